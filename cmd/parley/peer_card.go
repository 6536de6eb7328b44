package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-agents/parley/a2a"
)

// shownCard is an agent's card as it is printed.
type shownCard struct {
	Name        string       `json:"name"`
	Description string       `json:"description"`
	Version     string       `json:"version"`
	Parley      bool         `json:"parley"` // it knows Parley's extension, and its signature holds
	Agent       string       `json:"agent,omitempty"`
	Fingerprint string       `json:"fingerprint,omitempty"`
	Streaming   bool         `json:"streaming"`
	Webhooks    bool         `json:"webhooks"`
	Interfaces  []shownFace  `json:"interfaces"`
	Skills      []shownSkill `json:"skills"`
}

type shownFace struct {
	URL     string `json:"url"`
	Binding string `json:"binding"`
	Version string `json:"version"`
	Used    bool   `json:"used"`
}

type shownSkill struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
}

func peerCard() *cobra.Command {
	var a access
	c := &cobra.Command{
		Use:   "card URL",
		Short: "Read an agent's card and check its signature",
		Long: `Read the card of an agent over A2A 1.0 and check its signature. The URL is where
the card lies, without /.well-known/agent-card.json.

` + accessHelp + ` The signature of another agent is by a
key that nobody here knows, and is not judged. That a signature holds says that
whoever wrote the card has the key, not whose key it is: compare its fingerprint
with what whoever runs the agent says.

-o json prints {"name", "description", "version", "parley", "agent",
"fingerprint", "streaming", "webhooks", "interfaces": [{"url", "binding",
"version", "used"}], "skills": [{"id", "name", "description", "tags"}]}. Where
parley is false there is no agent, which is its URI, and no fingerprint, which
is its key's. The interface that is used is the one that is spoken here. The
exit code is 4 if the card or its signature does not hold, 3 if there is none,
and 7 if its server is not reached.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := a.config()
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeoutCause(c.Context(), a.timeout, &timeoutError{fmt.Sprintf("no card within %s", a.timeout)})
			defer cancel()
			s, err := a2a.Look(ctx, args[0], cfg)
			if err != nil {
				return err
			}
			card := shownCardOf(s)
			return show(c, card, card.rows)
		},
	}
	accessFlags(c, &a)
	return c
}

func shownCardOf(s *a2a.Sight) shownCard {
	out := shownCard{Name: s.Card.Name, Description: s.Card.Description, Version: s.Card.Version, Parley: s.URI != "", Agent: s.URI,
		Streaming: s.Card.Capabilities.Streaming, Webhooks: s.Card.Capabilities.PushNotifications,
		Interfaces: []shownFace{}, Skills: []shownSkill{}}
	if s.Key != nil {
		out.Fingerprint = a2a.Fingerprint(s.Key)
	}
	for _, i := range s.Card.SupportedInterfaces {
		out.Interfaces = append(out.Interfaces, shownFace{i.URL, i.ProtocolBinding, i.ProtocolVersion, i == s.Interface})
	}
	for _, k := range s.Card.Skills {
		out.Skills = append(out.Skills, shownSkill{k.ID, k.Name, k.Description, append([]string{}, k.Tags...)})
	}
	return out
}

func (s shownCard) rows() [][]string {
	rows := [][]string{{"WHAT", "VALUE"}, {"name", s.Name}, {"description", s.Description}, {"version", s.Version}}
	if s.Parley {
		rows = append(rows, []string{"agent", s.Agent}, []string{"key", s.Fingerprint + ", which signed this card"})
	} else {
		rows = append(rows, []string{"agent", "does not know Parley; no signature was judged"})
	}
	rows = append(rows, []string{"streaming", yes(s.Streaming)}, []string{"webhooks", yes(s.Webhooks)})
	for _, i := range s.Interfaces {
		used := ""
		if i.Used {
			used = " (used here)"
		}
		rows = append(rows, []string{"interface", strings.TrimSpace(i.Binding+" "+i.Version+" "+i.URL) + used})
	}
	for _, k := range s.Skills {
		rows = append(rows, []string{"skill", k.ID + ": " + k.Description})
	}
	return rows
}
