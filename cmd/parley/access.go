package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-agents/parley/a2a"
	"github.com/parley-agents/parley/a2a/wire"
)

// access are the flags of a verb that calls an agent by its URL.
type access struct {
	bearerEnv, keyEnv, keyHeader string
	origins, extensions          []string
	timeout                      time.Duration
}

// accessHelp is what the help of every verb says that calls an agent.
const accessHelp = `The agent's card is read first. An agent of Parley must have signed it. Nothing
but the interfaces on the URL's own origin is called, unless --origin allows
another one. An agent that requires an extension is called if --extension names
it. Credentials come from environment variables, so that neither the shell's
history nor a list of processes shows them.`

func accessFlags(c *cobra.Command, a *access) {
	c.Flags().StringVar(&a.bearerEnv, "bearer-env", "", "the environment variable with a bearer token")
	c.Flags().StringVar(&a.keyEnv, "api-key-env", "", "the environment variable with an API key")
	c.Flags().StringVar(&a.keyHeader, "api-key-header", "X-API-Key", "the header that the API key goes into")
	c.Flags().StringSliceVar(&a.origins, "origin", nil, "an origin, such as https://api.example, that the agent's interfaces may be on beside the URL's own")
	c.Flags().StringSliceVar(&a.extensions, "extension", nil, "the URI of an extension to activate, such as one that the agent requires")
	c.Flags().DurationVar(&a.timeout, "timeout", 30*time.Second, "wait this long in all")
}

// config is how the agent is called.
func (a access) config() (a2a.DialConfig, error) {
	cfg := a2a.DialConfig{Origins: a.origins}
	if a.timeout <= 0 {
		return cfg, &usageError{fmt.Errorf("timeout %s: want more than 0", a.timeout)}
	}
	cfg.Client.Timeout, cfg.Client.Extensions = a.timeout, a.extensions
	switch {
	case a.bearerEnv != "" && a.keyEnv != "":
		return cfg, &usageError{errors.New("--bearer-env and --api-key-env: one of them is enough")}
	case a.bearerEnv != "":
		token, err := secret(a.bearerEnv)
		cfg.Client.Authorize = a2a.Bearer(token)
		return cfg, err
	case a.keyEnv != "":
		key, err := secret(a.keyEnv)
		cfg.Client.Authorize = a2a.APIKey(a.keyHeader, key)
		return cfg, err
	}
	return cfg, nil
}

// secret reads a credential from the environment.
func secret(name string) (string, error) {
	value := os.Getenv(name)
	if value == "" {
		return "", &usageError{fmt.Errorf("the environment variable %s is empty", name)}
	}
	return value, nil
}

// peerKinds are the kinds of an agent's refusals by the code that a verb exits
// with; any other kind but an internal error is a violation of the protocol.
func peerKinds() map[int][]wire.Kind {
	return map[int][]wire.Kind{
		exitNotFound:    {wire.TaskNotFound},
		exitDenied:      {wire.Unauthenticated, wire.PermissionDenied},
		exitUnreachable: {wire.Overloaded, wire.Unavailable},
		exitFailed:      {wire.Internal},
	}
}

// peerExit is the code for what calling an agent came to, 0 if the error is not
// of that.
func peerExit(err error) int {
	if e, ok := errors.AsType[*a2a.CardError](err); ok && e.Status != 0 {
		return statusExit(e.Status)
	}
	if e, ok := errors.AsType[*wire.Error](err); ok {
		for code, kinds := range peerKinds() {
			for _, k := range kinds {
				if e.Kind == k {
					return code
				}
			}
		}
		return exitViolation
	}
	switch {
	case is[*a2a.CardError](err), is[*a2a.KeyChangedError](err), is[*a2a.WrongAgentError](err):
		return exitViolation
	case is[*deniedError](err):
		return exitDenied
	case is[*url.Error](err):
		return exitUnreachable
	}
	return exitOK
}

// statusExit is the code for an HTTP status in place of a card.
func statusExit(status int) int {
	switch {
	case status == 404 || status == 410:
		return exitNotFound
	case status == 401 || status == 403:
		return exitDenied
	case status == 429 || status >= 500:
		return exitUnreachable
	}
	return exitViolation
}

// peerEnds matches the errors of calling an agent that end with the code.
func peerEnds(code int) func(error) bool {
	return func(err error) bool { return peerExit(err) == code }
}

// deniedError is an agent that wants credentials, after its verb has reported it.
type deniedError struct{ text string }

func (e *deniedError) Error() string { return e.text }
