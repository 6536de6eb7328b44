package wire_test

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"time"

	"github.com/parley-agents/parley/a2a/wire"
)

func Example() {
	// A server reads a request and answers it.
	body := []byte(`{"jsonrpc":"2.0","id":7,"method":"GetTask","params":{"id":"t-1","history_length":"0"}}`)
	request, err := wire.ParseRequest(body)
	if err != nil {
		log.Fatal(err)
	}
	var r wire.GetTaskRequest
	if err := request.Decode(&r); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", wire.EncodeResult(request.ID, &wire.Task{ID: r.ID, Status: wire.TaskStatus{State: wire.Working}}))
	fmt.Printf("%s\n", wire.EncodeError(request.ID, errors.New("disk on fire")))
	// Output:
	// {"jsonrpc":"2.0","id":7,"result":{"id":"t-1","status":{"state":"TASK_STATE_WORKING"}}}
	// {"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"internal error","data":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","domain":"a2a-protocol.org","reason":"INTERNAL"}]}}
}

func ExampleDecode() {
	var m wire.Message
	fmt.Println(wire.Decode([]byte(`{"messageId":"m-1","role":"ROLE_USER","parts":[{"text":"hi"},{}]}`), &m))
	// Output:
	// INVALID_PARAMS: parts[1]: expected exactly one of text, raw, url and data, got none
}

func ExampleEncode() {
	fmt.Printf("%s\n", wire.Encode(&wire.TaskStatus{State: wire.Completed, Timestamp: time.Date(2025, 10, 28, 10, 30, 0, 0, time.UTC)}))
	// Output:
	// {"state":"TASK_STATE_COMPLETED","timestamp":"2025-10-28T10:30:00.000Z"}
}

func ExampleDecodeAnswer() {
	answer := []byte(`{"jsonrpc":"2.0","id":"1","error":{"code":-32001,"message":"no such task"}}`)
	var task wire.Task
	var e *wire.Error
	if err := wire.DecodeAnswer(answer, "1", &task); errors.As(err, &e) {
		fmt.Println(e.Kind, e.Message)
	}
	// Output:
	// TASK_NOT_FOUND no such task
}

func ExampleDecodeResult() {
	var page wire.ListTasksResponse
	fmt.Println(wire.DecodeResult([]byte(`{"tasks":[{"id":"t-1"}]}`), &page))
	// Output:
	// INVALID_AGENT_RESPONSE: tasks[0].status: expected an object, got none
}

func ExampleEncodeRequest() {
	fmt.Printf("%s\n", wire.EncodeRequest("1", wire.CancelTask, &wire.CancelTaskRequest{ID: "t-1"}))
	// Output:
	// {"jsonrpc":"2.0","id":"1","method":"CancelTask","params":{"id":"t-1"}}
}

func ExampleEncodeREST() {
	some := 10
	method, target, _ := wire.EncodeREST(wire.GetTask, &wire.GetTaskRequest{ID: "t-1", HistoryLength: &some})
	fmt.Println(method, target)
	// Output:
	// GET /tasks/t-1?historyLength=10
}

func ExampleParseRoute() {
	route, err := wire.ParseRoute("GET", "/acme/tasks/t-1")
	if err != nil {
		log.Fatal(err)
	}
	var r wire.GetTaskRequest
	err = route.Decode(url.Values{"historyLength": {"-1"}}, nil, &r)
	fmt.Println(route.Method, route.Tenant, route.Task)
	fmt.Println(err)
	// Output:
	// GetTask acme t-1
	// INVALID_PARAMS: historyLength: expected a whole number from 0 to 2147483647, got "-1"
}

func ExampleEncodeStatus() {
	code, body := wire.EncodeStatus(wire.Errorf(wire.TaskNotFound, "there is no such task"))
	fmt.Println(code)
	fmt.Printf("%s\n", body)
	fmt.Println(wire.DecodeStatus(code, body))
	// Output:
	// 404
	// {"error":{"code":404,"status":"NOT_FOUND","message":"there is no such task","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","domain":"a2a-protocol.org","reason":"TASK_NOT_FOUND"}]}}
	// TASK_NOT_FOUND: there is no such task
}

func ExampleCheckVersion() {
	fmt.Println(wire.CheckVersion("1.0", ""))
	fmt.Println(wire.CheckVersion("", ""))
	// Output:
	// <nil>
	// VERSION_NOT_SUPPORTED: protocol version "0.3" is not supported; supported is 1.0, by the header A2A-Version
}

func ExampleParseExtensions() {
	fmt.Printf("%q\n", wire.ParseExtensions([]string{"https://a.example/x/v1, https://b.example/y/v1"}))
	// Output:
	// ["https://a.example/x/v1" "https://b.example/y/v1"]
}

func ExampleVerifyCard() {
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, ed25519.SeedSize))
	card := wire.AgentCard{Name: "clerk", SupportedInterfaces: []wire.AgentInterface{{URL: "https://clerk.example/", ProtocolBinding: wire.JSONRPC}}}
	if err := wire.SignCard(&card, key, "2026"); err != nil {
		log.Fatal(err)
	}
	text := wire.Encode(&card)
	pinned := func(wire.SignatureHint) crypto.PublicKey { return key.Public() }
	hint, err := wire.VerifyCard(text, pinned)
	fmt.Println(hint.Algorithm, hint.KeyID, err)
	_, err = wire.VerifyCard(bytes.Replace(text, []byte("clerk.example"), []byte("thief.example"), 1), pinned)
	fmt.Println(err)
	// Output:
	// EdDSA 2026 <nil>
	// agent card has no valid signature by a known key
}

func ExampleEncodeStatusAs() {
	body := wire.EncodeStatusAs(http.StatusRequestEntityTooLarge, wire.Errorf(wire.InvalidRequest, "the body is too large"))
	fmt.Println(string(body[:63]))
	// Output: {"error":{"code":413,"status":"INVALID_ARGUMENT","message":"the
}
