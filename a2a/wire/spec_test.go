package wire

import (
	"encoding/json"
	"os"
	"reflect"
	"testing"
)

// The texts of this test are the specification's examples (version 1.0.1), by
// section; want is "" where what is read is written the same.
func TestTheSpecificationsExamplesAreRead(t *testing.T) {
	for _, tt := range []struct {
		section    string
		into       Object
		text, want string
	}{
		{"6.1 request", new(SendMessageRequest), `{"message": {"role": "ROLE_USER", "parts": [{"text": "What is the weather today?"}], "messageId": "msg-uuid"}}`, ``},
		{"6.1 response", new(SendMessageResponse), `{"task": {"id": "task-uuid", "contextId": "context-uuid", "status": {"state": "TASK_STATE_COMPLETED"},
			"artifacts": [{"artifactId": "artifact-uuid", "name": "Weather Report", "parts": [{"text": "Today will be sunny with a high of 75°F"}]}]}}`, ``},
		{"6.2 task", new(StreamResponse), `{"task": {"id": "task-uuid", "status": {"state": "TASK_STATE_WORKING"}}}`, ``},
		{"6.2 status", new(StreamResponse), `{"statusUpdate": {"taskId": "task-uuid", "status": {"state": "TASK_STATE_COMPLETED"}}}`,
			`{"statusUpdate": {"taskId": "task-uuid", "contextId": "", "status": {"state": "TASK_STATE_COMPLETED"}}}`},
		{"6.3 follow-up", new(SendMessageRequest), `{"message": {"taskId": "task-uuid", "role": "ROLE_USER", "parts": [{"text": "From San Francisco to New York"}], "messageId": "msg-2"}}`, ``},
		{"6.5 page", new(ListTasksResponse), `{"tasks": [{"id": "789abc-def0-1234-5678-9abcdef01234", "contextId": "another-context-id", "status": {"state": "TASK_STATE_WORKING",
			"message": {"role": "ROLE_AGENT", "parts": [{"text": "Processing your document analysis..."}], "messageId": "msg-status-update"}, "timestamp": "2024-03-15T10:20:00Z"}}],
			"totalSize": 1, "pageSize": 20, "nextPageToken": ""}`,
			`{"tasks": [{"id": "789abc-def0-1234-5678-9abcdef01234", "contextId": "another-context-id", "status": {"state": "TASK_STATE_WORKING",
			"message": {"role": "ROLE_AGENT", "parts": [{"text": "Processing your document analysis..."}], "messageId": "msg-status-update"}, "timestamp": "2024-03-15T10:20:00.000Z"}}],
			"totalSize": 1, "pageSize": 20, "nextPageToken": ""}`},
		{"6.6 request", new(SendMessageRequest), `{"message": {"role": "ROLE_USER", "parts": [{"text": "Generate the Q1 sales report."}], "messageId": "6dbc13b5-bd57-4c2b-b503-24e381b6c8d6"},
			"configuration": {"taskPushNotificationConfig": {"url": "https://client.example.com/webhook/a2a-notifications",
			"authentication": {"scheme": "Bearer", "credentials": "secure-client-token-for-task-aaa"}}}}`, ``},
		{"6.6 notification", new(StreamResponse), `{"statusUpdate": {"taskId": "43667960-d455-4453-b0cf-1bae4955270d", "contextId": "c295ea44-7543-4f78-b524-7a38915ad6e4",
			"status": {"state": "TASK_STATE_COMPLETED", "timestamp": "2024-03-15T18:30:00.000Z"}}}`, ``},
		{"6.7 upload, cut where the text cuts it", new(SendMessageRequest), `{"message": {"role": "ROLE_USER", "parts": [{"text": "Analyze this image and highlight any faces."},
			{"raw": "iVBORw0KGgoAAAANSUhEUgAAAAUA", "filename": "input_image.png", "mediaType": "image/png"}], "messageId": "6dbc13b5-bd57-4c2b-b503-24e381b6c8d6"}}`, ``},
		{"6.7 reference", new(Artifact), `{"artifactId": "9b6934dd-37e3-4eb1-8766-962efaab63a1", "name": "processed_image_with_faces.png", "parts": [
			{"url": "https://storage.example.com/processed/task-bbb/output.png?token=xyz", "filename": "output.png", "mediaType": "image/png"}]}`, ``},
		{"6.8 request", new(SendMessageRequest), `{"message": {"role": "ROLE_USER", "parts": [{"text": "Show me a list of my open IT tickets", "metadata": {"mediaType": "application/json",
			"schema": {"type": "array", "items": {"type": "object", "properties": {"ticketNumber": {"type": "string"}, "description": {"type": "string"}}}}}}],
			"messageId": "85b26db5-ffbb-4278-a5da-a7b09dea1b47"}}`, ``},
		{"9.4.3", new(GetTaskRequest), `{"id": "task-uuid", "historyLength": 10}`, ``},
		{"9.4.4", new(ListTasksRequest), `{"contextId": "context-uuid", "status": "TASK_STATE_WORKING", "pageSize": 50, "pageToken": "cursor-token"}`, ``},
		{"11.4", new(SendMessageRequest), `{"message": {"messageId": "uuid", "role": "ROLE_USER", "parts": [{"text": "Hello"}]}, "configuration": {"acceptedOutputModes": ["text/plain"]}}`, ``},
	} {
		t.Run(tt.section, func(t *testing.T) {
			if err := Decode([]byte(tt.text), tt.into); err != nil {
				t.Fatal(err)
			}
			if tt.want == "" {
				tt.want = tt.text
			}
			if got := Encode(tt.into); !sameJSON(t, got, []byte(tt.want)) {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// The sample card of section 8.5 has a member of protocol 0.3, security, which
// is ignored like any unknown one.
func TestTheSpecificationsCardIsRead(t *testing.T) {
	text, err := os.ReadFile("testdata/card.json")
	if err != nil {
		t.Fatal(err)
	}
	var card AgentCard
	if err := Decode(text, &card); err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	delete(want, "security")
	wanted, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if got := Encode(&card); !sameJSON(t, got, wanted) {
		t.Errorf("got %s, want %s", got, wanted)
	}
}

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	for text, into := range map[*any][]byte{&x: a, &y: b} {
		if err := json.Unmarshal(into, text); err != nil {
			t.Fatalf("%s: %v", into, err)
		}
	}
	return reflect.DeepEqual(x, y)
}
