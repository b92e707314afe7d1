# The adapters' tests, every engine in `inference`, every release of TensorFlow in its profiles, and the scoreboard of
# them all: about an hour and a half on two cores.
# Each engine has an environment of its own in which sessrun is installed; a release has one without it.
ENGINES  := onnxruntime jax openvino litert tensorflow-xla
SCRIPTS  := tfjs-cpu tfjs-wasm tfjs-webgl
RELEASES := 2.16 2.17 2.18 2.19 2.20 2.21
PROFILES := core structures state training
C_PROFILES := core-engine concurrency-engine
BOARD    := $(OUT)/engines
ENVS     := $(OUT)/environments
NPM      := $(foreach package,core converter backend-cpu backend-wasm backend-webgl,@tensorflow/tfjs-$(package)@4.22)

CERTIFICATES := $(ENGINES:%=$(BOARD)/%-inference.xz) $(SCRIPTS:%=$(BOARD)/%-inference.xz) \
    $(foreach release,$(RELEASES),$(PROFILES:%=$(BOARD)/tensorflow-$(release)-%.xz)) \
    $(C_PROFILES:%=$(BOARD)/tensorflow-c-%.xz) $(BOARD)/tensorflow-inference.xz

engines: engine-tests $(CERTIFICATES)
	$(BIN)/sessrun scoreboard $(CERTIFICATES) --findings docs/findings --output $(BOARD)/site

# What of it is in git: the page, and a package of each engine.
published: $(CERTIFICATES)
	rm -rf reports/published/certificates
	$(BIN)/sessrun scoreboard $(CERTIFICATES) --findings docs/findings --output $(BOARD)/site --publish reports/published

# Those of TensorFlow's own adapters, XLA's among them, are CI's.
engine-tests: $(filter-out %/tensorflow-xla.tests,$(ENGINES:%=$(ENVS)/%.tests)) $(ENVS)/tfjs.tests

$(ENGINES:%=$(ENVS)/%.tests): $(ENVS)/%.tests: $(ENVS)/%.stamp
	$(ENVS)/$*/bin/python -m pip install --quiet --editable '.[dev]'
	$(ENVS)/$*/bin/python -m pytest -q -m $* tests/adapters
	touch $@

$(ENVS)/tfjs.tests: $(ENVS)/tfjs.stamp $(VENV)/dev.stamp
	SESSRUN_TFJS=$(ENVS)/tfjs $(BIN)/python -m pytest -q -m tfjs tests/adapters
	touch $@

# $(1): the environment, $(2): the backend, $(3): the profile. A backend that is not certified has a package too.
certified = $(1)/bin/sessrun certify '$(2)' --profile $(3) $(if $(SEED),--seed $(SEED)) --output $(basename $@) || \
  test -f $(basename $@)/package.zip; $(1)/bin/sessrun pack $(basename $@) --output $@

$(ENGINES:%=$(BOARD)/%-inference.xz): $(BOARD)/%-inference.xz: $(ENVS)/%.stamp
	$(call certified,$(ENVS)/$*,$*,inference)

$(SCRIPTS:%=$(BOARD)/%-inference.xz): $(BOARD)/%-inference.xz: $(ENVS)/tfjs.stamp $(VENV)/dev.stamp
	$(call certified,$(VENV),$*#$(ENVS)/tfjs,inference)

$(foreach profile,$(PROFILES),$(RELEASES:%=$(BOARD)/tensorflow-%-$(profile).xz)): $(VENV)/dev.stamp
	$(MAKE) $(ENVS)/tensorflow-$(word 2,$(subst -, ,$(basename $(@F)))).stamp
	$(call certified,$(VENV),tensorflow@$(ENVS)/tensorflow-$(word 2,$(subst -, ,$(@F))),$(word 3,$(subst -, ,$(basename $(@F)))))

$(C_PROFILES:%=$(BOARD)/tensorflow-c-%.xz): $(BOARD)/tensorflow-c-%.xz: $(VENV)/certify-tensorflow.stamp
	$(call certified,$(VENV),tensorflow-c,$*)

$(BOARD)/tensorflow-inference.xz: $(VENV)/certify-tensorflow.stamp
	$(call certified,$(VENV),tensorflow,inference)

$(ENGINES:%=$(ENVS)/%.stamp): $(ENVS)/%.stamp: pyproject.toml
	$(PYTHON) -m venv $(ENVS)/$*
	$(ENVS)/$*/bin/python -m pip install --quiet --editable '.[$(patsubst tensorflow-%,tensorflow,$*)]'
	touch $@

# TensorFlow 2.20 sets no upper bound on protobuf, and cannot write a graph as text with protobuf 7.
$(RELEASES:%=$(ENVS)/tensorflow-%.stamp): $(ENVS)/tensorflow-%.stamp:
	$(PYTHON) -m venv $(ENVS)/tensorflow-$*
	$(ENVS)/tensorflow-$*/bin/python -m pip install --quiet 'tensorflow-cpu==$*.*' 'protobuf<7'
	$(ENVS)/tensorflow-$*/bin/python -m pip install --quiet --no-deps 'tf_keras==$*.*'
	touch $@

$(ENVS)/tfjs.stamp:
	npm install --silent --prefix $(ENVS)/tfjs $(NPM)
	touch $@
