module github.com/parley-agents/parley

go 1.26.0

require (
	github.com/bahlo/generic-list-go v0.2.0
	github.com/buger/jsonparser v1.1.2
	github.com/go-jose/go-jose/v4 v4.1.9
	github.com/google/uuid v1.6.0
	github.com/gowebpki/jcs v1.0.2
	github.com/inconshreveable/mousetrap v1.1.0
	github.com/invopop/jsonschema v0.14.0
	github.com/mattn/go-sqlite3 v1.14.53
	github.com/pb33f/ordered-map/v2 v2.3.1
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3
	github.com/sashabaranov/go-openai v1.43.0
	github.com/spf13/cobra v1.10.2
	github.com/spf13/pflag v1.0.9
	go.yaml.in/yaml/v4 v4.0.0-rc.2
	golang.org/x/text v0.44.0
	honnef.co/go/tools v0.8.2
	pgregory.net/rapid v1.3.0
)
