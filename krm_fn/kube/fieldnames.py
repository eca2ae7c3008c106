"""Names of fields in Kubernetes' objects, to tell a misspelt one from one of a custom resource.

Fields that rules select, and their neighbours that could be taken for a misspelling; not a schema.
Source: Kubernetes' API reference.
"""

from __future__ import annotations

from typing import Final

FIELD_NAMES: Final = frozenset(
    """
    accessModes action activeDeadlineSeconds add addresses affinity aggregationRule
    allocateLoadBalancerNodePorts allocatable allowPrivilegeEscalation allowVolumeExpansion
    annotations apiGroup apiGroups apiVersion appArmorProfile appProtocol args
    automountServiceAccountToken averageUtilization averageValue awsElasticBlockStore azureDisk
    azureFile backend backoffLimit backoffLimitPerIndex behavior binaryData blockOwnerDeletion
    capabilities capacity cephfs cinder claimName claimRef claims clusterIP clusterIPs
    clusterRoleSelectors command completionMode completions concurrencyPolicy conditionType
    conditions configMap configMapKeyRef configMapRef configSource containerPort containerStatuses
    containers controller count cpu creationTimestamp csi currentReplicas data dataSource
    dataSourceRef default defaultBackend defaultMode defaultRequest deletionGracePeriodSeconds
    deletionTimestamp describedObject devicePath dnsConfig dnsPolicy downwardAPI driver drop effect
    egress emptyDir enableServiceLinks endPort endpoints env envFrom ephemeral ephemeralContainers
    ephemeralContainerStatuses exec expirationSeconds external externalIPs externalID externalName
    externalTrafficPolicy failedJobsHistoryLimit failureThreshold fieldPath fieldRef fields
    fieldsType finalizers flexVolume fsGroup fsGroupChangePolicy fsType gcePersistentDisk
    generateName generation gitRepo glusterfs gmsaCredentialSpec grpc healthCheckNodePort host
    hostAliases hostIP hostIPC hostIPs hostname hostNetwork hostPath hostPID hostPort hostProcess
    hostUsers hosts http httpGet httpHeaders image imageID imagePullPolicy imagePullSecrets
    immutable ingress ingressClassName initContainers initContainerStatuses initialDelaySeconds
    internalTrafficPolicy ipBlock ipFamilies ipFamilyPolicy iscsi items jobTemplate key keys kind
    labels labelSelector lastState level lifecycle limits livenessProbe loadBalancer
    loadBalancerClass loadBalancerIP loadBalancerSourceRanges localhostProfile managedFields manager
    manualSelector match matchConditions matchExpressions matchFields matchLabelKeys matchLabels max
    maxReplicas maxSkew maxSurge maxUnavailable medium memory metadata metric metrics min
    minAvailable minDomains minReadySeconds minReplicas mismatchLabelKeys mode monitors mountOptions
    mountPath mountPropagation name nameservers namespace namespaces namespaceSelector nfs
    nodeAffinity nodeAffinityPolicy nodeName nodePort nodeSelector nodeSelectorTerms
    nodeTaintsPolicy nominatedNodeName nonResourceURLs observedGeneration operator optional options
    ordinals os overhead overprovisioning ownerReferences parallelism parameters partition path
    pathType paths pause paused periodSeconds persistentVolumeClaim
    persistentVolumeClaimRetentionPolicy persistentVolumeReclaimPolicy phase photonPersistentDisk
    podAffinity podAffinityTerm podAntiAffinity podCIDR podCIDRs podFailurePolicy podInfo podIP
    podIPs podManagementPolicy podSelector podTemplate policies policy policyTypes port ports
    portworxVolume postStart preemptionPolicy preferredDuringSchedulingIgnoredDuringExecution
    preference preStop priority priorityClassName privileged procMount progressDeadlineSeconds
    projected protocol provider providerID provisioner publishNotReadyAddresses qosClass quobyte rbd
    readinessGates readinessProbe readOnly readOnlyRootFilesystem ready reason reclaimPolicy
    recursiveReadOnly replicas requests requiredDuringSchedulingIgnoredDuringExecution resizePolicy
    resource resourceClaims resourceFieldRef resourceNames resourceVersion resources restartCount
    restartPolicy revisionHistoryLimit role roleRef rollingUpdate rules runAsGroup runAsNonRoot
    runAsUser runAsUserName runtimeClassName runtimeHandler scaleDown scaleIO scaleTargetRef scaleUp
    schedule scheduler schedulerName schedulingGates scope scopeSelector scopes searches
    seccompProfile secret secretKeyRef secretName secretRef secrets securityContext selectPolicy
    selector selfLink seLinuxOptions server service serviceAccount serviceAccountName
    serviceAccountToken serviceName sessionAffinity sessionAffinityConfig setHostnameAsFQDN
    shareName shareProcessNamespace sizeLimit sleep source spec stabilizationWindowSeconds
    startingDeadlineSeconds startupProbe state status stdin stdinOnce stopSignal storage
    storageClassName storageMode storageos storagePolicyName strategy stringData subPath subPathExpr
    subdomain subjects subresource subsets successThreshold successfulJobsHistoryLimit
    supplementalGroups supplementalGroupsPolicy suspend syntheticRefs sysctls taints target
    targetPort tcpSocket template templateGeneration terminationGracePeriodSeconds
    terminationMessagePath terminationMessagePolicy timeoutSeconds timeZone tls tolerationSeconds
    tolerations topologyKey topologySpreadConstraints trafficDistribution ttlSecondsAfterFinished
    tty type uid unhealthyPodEvictionPolicy unschedulable updateStrategy user username value
    valueFrom values verbs verifiedBy volume volumeAttributes volumeAttributesClassName
    volumeBindingMode volumeClaimTemplate volumeClaimTemplates volumeDevices volumeHandle volumeID
    volumeMode volumeMounts volumeName volumePath volumes vsphereVolume weight whenDeleted
    whenScaled whenUnsatisfiable windowsOptions workingDir
    """.split()  # noqa: SIM905
)
