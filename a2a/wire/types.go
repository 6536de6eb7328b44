package wire

import (
	"encoding/json"
	"time"
)

// Version is the protocol version that is spoken here, Major.Minor.
const Version = "1.0"

// TaskState is where a task stands (section 4.1.3).
type TaskState string

// The states of a task.
const (
	Submitted     TaskState = "TASK_STATE_SUBMITTED"
	Working       TaskState = "TASK_STATE_WORKING"
	Completed     TaskState = "TASK_STATE_COMPLETED"
	Failed        TaskState = "TASK_STATE_FAILED"
	Canceled      TaskState = "TASK_STATE_CANCELED"
	InputRequired TaskState = "TASK_STATE_INPUT_REQUIRED"
	Rejected      TaskState = "TASK_STATE_REJECTED"
	AuthRequired  TaskState = "TASK_STATE_AUTH_REQUIRED"
)

// Terminal reports whether the task has ended.
func (s TaskState) Terminal() bool {
	return s == Completed || s == Failed || s == Canceled || s == Rejected
}

// Interrupted reports whether the task waits for its client.
func (s TaskState) Interrupted() bool { return s == InputRequired || s == AuthRequired }

// Role says who wrote a message.
type Role string

// The roles.
const (
	User  Role = "ROLE_USER"
	Agent Role = "ROLE_AGENT"
)

// Metadata is a JSON object by member (google.protobuf.Struct).
type Metadata map[string]json.RawMessage

// Part is one piece of content: exactly one of Text, Raw, URL and Data is set
// (section 4.1.6).
type Part struct {
	Text *string
	// Raw is not nil when the part has bytes, even none.
	Raw []byte
	URL *string
	// Data is any JSON value, the four bytes null included; nil when absent.
	Data json.RawMessage

	Metadata  Metadata
	Filename  string
	MediaType string
}

// Message is one turn of a client or an agent (section 4.1.4).
type Message struct {
	MessageID        string
	ContextID        string
	TaskID           string
	Role             Role
	Parts            []Part
	Metadata         Metadata
	Extensions       []string
	ReferenceTaskIDs []string
}

// TaskStatus is the state of a task and what was said about it last.
type TaskStatus struct {
	State TaskState
	// Message is nil when nothing was said.
	Message *Message
	// Timestamp is UTC in milliseconds, zero when absent.
	Timestamp time.Time
}

// Artifact is what a task made (section 4.1.7).
type Artifact struct {
	ArtifactID  string
	Name        string
	Description string
	Parts       []Part
	Metadata    Metadata
	Extensions  []string
}

// Task is the unit of work that a client follows (section 4.1.1).
type Task struct {
	ID        string
	ContextID string
	Status    TaskStatus
	Artifacts []Artifact
	History   []Message
	Metadata  Metadata
}

// StatusUpdate tells that a task's status has changed.
type StatusUpdate struct {
	TaskID    string
	ContextID string
	Status    TaskStatus
	Metadata  Metadata
}

// ArtifactUpdate tells of an artifact, or of a piece of one.
type ArtifactUpdate struct {
	TaskID    string
	ContextID string
	Artifact  Artifact
	// Append: the parts follow those that the artifact has already. LastChunk:
	// nothing more of it comes.
	Append    bool
	LastChunk bool
	Metadata  Metadata
}

// StreamResponse is one event of a stream, and the body of a push
// notification: exactly one member is set.
type StreamResponse struct {
	Task           *Task
	Message        *Message
	StatusUpdate   *StatusUpdate
	ArtifactUpdate *ArtifactUpdate
}

// SendConfiguration is what a client wishes of its answer.
type SendConfiguration struct {
	AcceptedOutputModes []string
	PushConfig          *PushConfig
	// HistoryLength is nil when the client does not say.
	HistoryLength     *int
	ReturnImmediately bool
}

// SendMessageRequest asks an agent to take a message.
type SendMessageRequest struct {
	Tenant        string
	Message       Message
	Configuration SendConfiguration
	Metadata      Metadata
}

// SendMessageResponse is a task or a message: exactly one member is set.
type SendMessageResponse struct {
	Task    *Task
	Message *Message
}

// GetTaskRequest asks for one task.
type GetTaskRequest struct {
	Tenant        string
	ID            string
	HistoryLength *int
}

// ListTasksRequest asks for the caller's tasks, newest status first.
type ListTasksRequest struct {
	Tenant    string
	ContextID string
	// Status is "" for any.
	Status TaskState
	// PageSize is 0 when the client does not say; then it is 50.
	PageSize      int
	PageToken     string
	HistoryLength *int
	// StatusTimestampAfter is zero when the client does not say. Tasks whose
	// status is as old or newer are listed.
	StatusTimestampAfter time.Time
	IncludeArtifacts     bool
}

// ListTasksResponse is one page of tasks.
type ListTasksResponse struct {
	Tasks []Task
	// NextPageToken is "" on the last page.
	NextPageToken string
	PageSize      int
	TotalSize     int
}

// CancelTaskRequest asks to cancel a task.
type CancelTaskRequest struct {
	Tenant   string
	ID       string
	Metadata Metadata
}

// SubscribeRequest asks for the events of a task that has not ended.
type SubscribeRequest struct {
	Tenant string
	ID     string
}

// Authentication is how a push notification proves where it is from: the
// HTTP header Authorization with these two words.
type Authentication struct{ Scheme, Credentials string }

// PushConfig is where the events of a task are posted.
type PushConfig struct {
	Tenant string
	// ID is the configuration's own; TaskID is the task's.
	ID, TaskID     string
	URL            string
	Token          string
	Authentication *Authentication
}

// PushConfigRequest names one configuration of a task.
type PushConfigRequest struct{ Tenant, TaskID, ID string }

// ListPushConfigsRequest asks for the configurations of a task.
type ListPushConfigsRequest struct {
	Tenant    string
	TaskID    string
	PageSize  int
	PageToken string
}

// ListPushConfigsResponse is one page of configurations.
type ListPushConfigsResponse struct {
	Configs       []PushConfig
	NextPageToken string
}

// ExtendedCardRequest asks for what an agent says only to those it knows.
type ExtendedCardRequest struct{ Tenant string }
