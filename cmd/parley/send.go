package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/parley-agents/parley/a2a"
	"github.com/parley-agents/parley/a2a/wire"
)

// sending are the flags of send.
type sending struct {
	access
	data, task, messageID string
	stream                bool
}

func (p process) sendCommand() *cobra.Command {
	var s sending
	c := &cobra.Command{
		Use:   "send URL [TEXT]",
		Short: "Say something to an agent over A2A and print its answer",
		Long: `Say something to an agent over A2A 1.0 and print its answer. The agent need not
be one of Parley: the URL is where its card lies, without
/.well-known/agent-card.json.

What is said is a text, or with --data a JSON value. The answer is what the
agent made, or what it said if it made nothing. With --stream it is printed as
it comes, and the states that the task passes through on standard error. An
agent that asks back ends the verb; --task answers it, or says more to a task.

An agent of Parley takes what has the same --message-id for the same message, and
answers it as it did, however often it is sent. So if no answer came, send it
again under that id. Other agents may do the work twice.

` + accessHelp + `

-o json prints {"task": …} or {"message": …}, as the protocol has them (A2A
section 3.2.2). -o jsonl with --stream prints each event of the stream on a
line. The exit code is 0 if the task is completed or the answer is a message, 6
if the agent wants credentials, and 1 if the task failed, was refused or
cancelled, or waits for an answer. It is 3 if there is no such agent or task, 4
if the agent breaks the protocol or refuses the message by it, and 7 if it is
not reached.`,
		Example: `  parley send http://localhost:8080 "What is the weather in Oulu?"
  parley send https://hotels.example/desk --data '{"city":"Oulu"}' --bearer-env HOTELS_TOKEN -o json`,
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, args []string) error {
			part, err := s.part(args[1:])
			if err != nil {
				return err
			}
			if s.messageID == "" {
				s.messageID = p.newID()
			}
			return s.run(c, args[0], part)
		},
	}
	accessFlags(c, &s.access)
	c.Flags().StringVar(&s.data, "data", "", "a JSON value to send instead of a text")
	c.Flags().StringVar(&s.task, "task", "", "the task that it belongs to (default: it opens one)")
	c.Flags().StringVar(&s.messageID, "message-id", "", "the id of the message (default: a new one)")
	c.Flags().BoolVar(&s.stream, "stream", false, "print the answer as it comes")
	return c
}

// part is what is said.
func (s sending) part(text []string) (wire.Part, error) {
	switch {
	case s.data == "" && len(text) == 1:
		return wire.Part{Text: &text[0], MediaType: "text/plain"}, nil
	case s.data == "" || len(text) == 1:
		return wire.Part{}, &usageError{errors.New("want either a text or --data")}
	case !json.Valid([]byte(s.data)):
		return wire.Part{}, &usageError{errors.New("--data is not JSON")}
	}
	return wire.Part{Data: json.RawMessage(s.data), MediaType: "application/json"}, nil
}

// run says it and prints the answer.
func (s sending) run(c *cobra.Command, url string, part wire.Part) error {
	cfg, err := s.config()
	if err != nil {
		return err
	}
	late := &timeoutError{fmt.Sprintf("no answer within %s: with --message-id %s it can be sent again", s.timeout, s.messageID)}
	ctx, cancel := context.WithTimeoutCause(c.Context(), s.timeout, late)
	defer cancel()
	to, err := a2a.Look(ctx, url, cfg)
	if err != nil {
		return err
	}
	client, err := a2a.NewClient(to.Interface, cfg.Client)
	if err != nil {
		return err
	}
	defer client.Close()
	t := &talk{cmd: c, url: url, to: client, out: &speech{w: c.OutOrStdout(), shown: map[string]bool{}}}
	r := &wire.SendMessageRequest{Message: wire.Message{MessageID: s.messageID, TaskID: s.task, Role: wire.User, Parts: []wire.Part{part}}}
	if s.stream {
		return t.follow(ctx, r)
	}
	return t.ask(ctx, r)
}
