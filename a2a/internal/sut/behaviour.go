package main

import (
	"context"
	"strings"
	"time"

	"github.com/parley-agents/parley/agent"
	"github.com/parley-agents/parley/envelope"
	"github.com/parley-agents/parley/protocol"
)

// lingering is how long the kit's long-running task takes: twice its timeout for
// streams.
const lingering = 4 * time.Second

// underTest is the agent that plays the kit's scenarios (its files
// scenarios/*.feature).
func underTest() *agent.Agent {
	return agent.New("kit", agent.Handle(play(), act), agent.Handle(answer(), act))
}

func act(ctx context.Context, in Turn) (Made, error) {
	switch in.Scenario {
	case "tck-complete-task":
		return Made{Text: "Hello from TCK"}, nil
	case "tck-artifact-text":
		return Made{Text: "Generated text content"}, nil
	case "tck-artifact-file":
		return Made{File: "Generated file content"}, nil
	case "tck-artifact-file-url":
		return Made{URL: "https://example.com/output.txt"}, nil
	case "tck-artifact-data":
		return Made{Data: &Counted{Key: "value", Count: 42}}, nil
	case "tck-message-response":
		return Made{Text: "Direct message response"}, nil
	case "tck-input-required":
		return insist(ctx)
	case "tck-reject-task":
		return Made{}, agent.Refuse(envelope.CodePermanent, "rejected")
	case "tck-stream-001":
		return Made{Text: "Stream hello from TCK"}, agent.Agree(ctx)
	case "tck-stream-003":
		return Made{Text: "Stream task lifecycle"}, agent.Agree(ctx)
	case "tck-stream-ordering-001":
		return Made{Text: "Ordered output"}, agent.Agree(ctx)
	case "tck-stream-artifact-text":
		return Made{Text: "Streamed text content"}, agent.Agree(ctx)
	case "tck-stream-artifact-file":
		return Made{File: "Streamed file content"}, agent.Agree(ctx)
	case "tck-stream-artifact-chunked":
		return Made{Text: "chunk-1 chunk-2"}, agent.Agree(ctx)
	case "test-resubscribe-message-id":
		return Made{Text: "That took a while"}, agent.Sleep(ctx, lingering)
	}
	return Made{Text: in.Text}, nil
}

// insist asks for input until it gets the last one. The kit's scenario calls for
// input again by the id of the answer; its words are what an agent is told of an
// answer.
func insist(ctx context.Context) (Made, error) {
	for {
		answer, err := agent.AskBack(ctx, protocol.QuestionAsked{Text: "What else?"})
		if err != nil {
			return Made{}, err
		}
		if !strings.HasPrefix(string(answer.Text), "TCK history message") {
			return Made{Text: "Hello from TCK"}, nil
		}
	}
}
