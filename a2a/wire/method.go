package wire

// Method is an operation by the name that JSON-RPC and gRPC give it (section
// 5.3).
type Method string

// The operations.
const (
	SendMessage          Method = "SendMessage"
	SendStreamingMessage Method = "SendStreamingMessage"
	GetTask              Method = "GetTask"
	ListTasks            Method = "ListTasks"
	CancelTask           Method = "CancelTask"
	SubscribeToTask      Method = "SubscribeToTask"
	CreatePushConfig     Method = "CreateTaskPushNotificationConfig"
	GetPushConfig        Method = "GetTaskPushNotificationConfig"
	ListPushConfigs      Method = "ListTaskPushNotificationConfigs"
	DeletePushConfig     Method = "DeleteTaskPushNotificationConfig"
	GetExtendedAgentCard Method = "GetExtendedAgentCard"
)

// Known reports whether the method is one of the eleven.
func (m Method) Known() bool {
	switch m {
	case SendMessage, SendStreamingMessage, GetTask, ListTasks, CancelTask, SubscribeToTask,
		CreatePushConfig, GetPushConfig, ListPushConfigs, DeletePushConfig, GetExtendedAgentCard:
		return true
	}
	return false
}

// Streams reports whether the answer is a stream of events.
func (m Method) Streams() bool { return m == SendStreamingMessage || m == SubscribeToTask }

// formerly is the method of protocol 0.3 that became one of today's.
func formerly(name string) (Method, bool) {
	switch name {
	case "message/send":
		return SendMessage, true
	case "message/stream":
		return SendStreamingMessage, true
	case "tasks/get":
		return GetTask, true
	case "tasks/list":
		return ListTasks, true
	case "tasks/cancel":
		return CancelTask, true
	case "tasks/resubscribe":
		return SubscribeToTask, true
	case "tasks/pushNotificationConfig/set":
		return CreatePushConfig, true
	case "tasks/pushNotificationConfig/get":
		return GetPushConfig, true
	case "tasks/pushNotificationConfig/list":
		return ListPushConfigs, true
	case "tasks/pushNotificationConfig/delete":
		return DeletePushConfig, true
	case "agent/getAuthenticatedExtendedCard":
		return GetExtendedAgentCard, true
	}
	return "", false
}

// complete is what a request must say beyond what its object must: a
// configuration that stands for itself names its task.
func (m Method) complete(o Object) error {
	if p, ok := o.(*PushConfig); ok && m == CreatePushConfig && p.TaskID == "" {
		return &Error{Kind: InvalidParams, Field: "taskId", Message: "expected a text that is not empty, got none"}
	}
	return nil
}
