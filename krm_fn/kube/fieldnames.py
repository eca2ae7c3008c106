"""Names of fields in Kubernetes' objects, to tell a misspelt one from one of a custom resource.

Fields of workloads, services and policies that rules select; not a schema.
Source: Kubernetes' API reference.
"""

from __future__ import annotations

from typing import Final

FIELD_NAMES: Final = frozenset(
    """
    accessModes activeDeadlineSeconds affinity allowPrivilegeEscalation annotations
    apiGroups apiVersion args automountServiceAccountToken backoffLimit capabilities
    claimName clusterIP command completions concurrencyPolicy configMap configMapKeyRef
    configMapRef containerPort containers controller cpu data defaultMode dnsConfig
    dnsPolicy downwardAPI drop effect emptyDir enableServiceLinks env envFrom
    ephemeralContainers exec externalIPs externalName externalTrafficPolicy failureThreshold
    fieldPath fieldRef finalizers fsGroup generation hostAliases hostIPC hostname
    hostNetwork hostPath hostPID hostPort httpGet image imagePullPolicy imagePullSecrets
    immutable ingressClassName initContainers initialDelaySeconds items jobTemplate keys
    kind labels lifecycle limits livenessProbe loadBalancerClass loadBalancerIP
    loadBalancerSourceRanges matchExpressions matchLabels maxReplicas maxSurge
    maxUnavailable medium memory metadata metrics minReadySeconds minReplicas mountPath name
    namespace nodeAffinity nodeName nodePort nodeSelector operator optional overhead
    ownerReferences parallelism path paths periodSeconds persistentVolumeClaim
    persistentVolumeReclaimPolicy podAffinity podAntiAffinity podManagementPolicy port ports
    postStart preemptionPolicy preStop priority priorityClassName privileged procMount
    progressDeadlineSeconds projected protocol provider readinessGates readinessProbe
    readOnly readOnlyRootFilesystem replicas requests resources restartPolicy
    revisionHistoryLimit roleRef rollingUpdate rules runAsGroup runAsNonRoot runAsUser
    runtimeClassName scaleTargetRef schedule schedulerName seccompProfile secret
    secretKeyRef secretName secretRef securityContext selector seLinuxOptions service
    serviceAccount serviceAccountName serviceName sessionAffinity shareProcessNamespace
    sizeLimit spec startupProbe status stdin storage storageClassName strategy stringData
    subdomain subjects subPath successThreshold suspend syntheticRefs sysctls targetPort
    tcpSocket template terminationGracePeriodSeconds terminationMessagePath
    terminationMessagePolicy timeoutSeconds timeZone tls tolerations tolerationSeconds
    topologyKey topologySpreadConstraints ttlSecondsAfterFinished type uid updateStrategy
    value valueFrom verbs volumeClaimTemplates volumeDevices volumeMode volumeMounts
    volumeName volumes weight workingDir
    """.split()  # noqa: SIM905
)
