GO ?= go
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
TRIP = $(GO) run ./examples/trip-planner --data "$$dir"
SENTENCE = "two of us from Helsinki to Lisbon in three weeks for 4 nights, under 900 euros"

# What bench runs: flags and names, such as BENCH="-quick store-vs-goqite".
BENCH ?=

.PHONY: demo test lint purego mutants fuzz crash bench peers tck tck-sut

# A trip is planned and booked, first without and then with accidents.
demo:
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
	echo "== $(SENTENCE)" && $(TRIP) --yes $(SENTENCE) && \
	echo && echo "== the same, while the process of the hotels is killed twice, a reply is lost, the model garbles its JSON and a hotel gives orders" && \
	$(TRIP) --yes --faults restart-hotel,drop-reply,bad-json,injection $(SENTENCE) && \
	echo && echo "== a sentence that leaves something open" && \
	$(TRIP) "a weekend in Lisbon, please" < /dev/null

test:
	$(GO) vet ./...
	$(GO) test -race -shuffle=on -timeout 30m ./...

lint:
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "gofmt: $$unformatted"; exit 1; }
	$(GO) run $(STATICCHECK) ./...

# Processes are killed CRASHES times in a row, and the store by other means. A
# failure is tried again with the CRASH_SEED that it tells.
CRASHES ?= 200
crash:
	CRASHES=$(CRASHES) $(GO) test -count=1 -run '^TestCrash' ./internal/crash ./store/sqlite

# The store without cgo.
purego:
	CGO_ENABLED=0 $(GO) test ./store/...

# Each safeguard is switched off in turn; the tests must notice.
mutants:
	@for m in repair duplicate deadline legality; do \
		$(GO) vet -tags mutant_$$m ./... || exit 1; \
		if out=$$($(GO) test -failfast -tags mutant_$$m ./guard ./repair ./agent ./examples/trip-planner/internal/trip 2>&1); then \
			echo "mutant_$$m: no test noticed"; exit 1; \
		fi; \
		echo "mutant_$$m: noticed in $$(echo "$$out" | grep -c '^--- FAIL') packages, first by $$(echo "$$out" | grep '^--- FAIL' | head -n 1 | cut -d' ' -f3)"; \
		echo "$$out" | grep -q '^--- FAIL' || { echo "$$out"; exit 1; }; \
	done

# Every decoder of outside bytes, for FUZZTIME each.
FUZZTIME ?= 10s
fuzz:
	@for p in $$($(GO) list ./...); do \
		for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
			echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) $$p || exit 1; \
		done; \
	done

# The store and the host against their bounds and against other queues. It
# takes some minutes; docs/benchmarks.md explains the gates.
bench:
	cd bench && $(GO) run . $(BENCH)

# Clients and servers of A2A that were not written for Parley, against ours.
peers:
	cd a2a/internal/peers && $(GO) vet ./... && $(GO) test -count=1 -timeout 20m ./...

# The official compatibility kit of A2A in the folder TCK, run by a PYTHON that
# has what it needs, against an agent that is started for it. It writes
# docs/a2a-conformance.json and the tables of docs/a2a-conformance.md.
PYTHON ?= python3
tck:
	@test -n "$(TCK)" || { echo "say where the kit is: make tck TCK=folder"; exit 1; }
	$(GO) run ./a2a/internal/tck -kit "$(TCK)" -python "$(PYTHON)"

# That agent alone, for a kit that is run by hand.
tck-sut:
	$(GO) run ./a2a/internal/sut
