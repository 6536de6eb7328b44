package wire

import "math"

// maxPage is the most tasks that one page of ListTasks has (section 3.1.4).
const maxPage = 100

func (s *SendConfiguration) fields(c *codec) {
	c.texts("acceptedOutputModes", &s.AcceptedOutputModes, optional)
	maybe(c, "taskPushNotificationConfig", &s.PushConfig)
	c.countArm("historyLength", &s.HistoryLength)
	c.flag("returnImmediately", &s.ReturnImmediately)
}

func (r *SendMessageRequest) fields(c *codec) {
	c.text("tenant", &r.Tenant, optional)
	one(c, "message", &r.Message, required)
	one(c, "configuration", &r.Configuration, optional)
	c.metadata("metadata", &r.Metadata)
}

func (r *SendMessageResponse) fields(c *codec) {
	maybe(c, "task", &r.Task)
	maybe(c, "message", &r.Message)
	c.exactlyOne("task and message", r.Task != nil, r.Message != nil)
}

func (r *GetTaskRequest) fields(c *codec) {
	c.text("tenant", &r.Tenant, optional)
	c.text("id", &r.ID, required)
	c.countArm("historyLength", &r.HistoryLength)
}

func (r *ListTasksRequest) fields(c *codec) {
	c.text("tenant", &r.Tenant, optional)
	c.text("contextId", &r.ContextID, optional)
	enum(c, "status", &r.Status, stateNames, optional)
	c.count("pageSize", &r.PageSize, maxPage, optional)
	c.text("pageToken", &r.PageToken, optional)
	c.countArm("historyLength", &r.HistoryLength)
	c.timestamp("statusTimestampAfter", &r.StatusTimestampAfter)
	c.flag("includeArtifacts", &r.IncludeArtifacts)
}

func (r *ListTasksResponse) fields(c *codec) {
	list(c, "tasks", &r.Tasks, kept)
	c.text("nextPageToken", &r.NextPageToken, kept)
	c.count("pageSize", &r.PageSize, math.MaxInt32, kept)
	c.count("totalSize", &r.TotalSize, math.MaxInt32, kept)
}

func (r *CancelTaskRequest) fields(c *codec) {
	c.text("tenant", &r.Tenant, optional)
	c.text("id", &r.ID, required)
	c.metadata("metadata", &r.Metadata)
}

func (r *SubscribeRequest) fields(c *codec) {
	c.text("tenant", &r.Tenant, optional)
	c.text("id", &r.ID, required)
}

func (a *Authentication) fields(c *codec) {
	c.text("scheme", &a.Scheme, required)
	c.text("credentials", &a.Credentials, optional)
}

// The task is named only where the configuration stands for itself: one in a
// SendMessage is about the task that the message makes.
func (p *PushConfig) fields(c *codec) {
	c.text("tenant", &p.Tenant, optional)
	c.text("id", &p.ID, optional)
	c.text("taskId", &p.TaskID, optional)
	c.text("url", &p.URL, required)
	c.text("token", &p.Token, optional)
	maybe(c, "authentication", &p.Authentication)
}

func (r *PushConfigRequest) fields(c *codec) {
	c.text("tenant", &r.Tenant, optional)
	c.text("taskId", &r.TaskID, required)
	c.text("id", &r.ID, required)
}

func (r *ListPushConfigsRequest) fields(c *codec) {
	c.text("tenant", &r.Tenant, optional)
	c.text("taskId", &r.TaskID, required)
	c.count("pageSize", &r.PageSize, math.MaxInt32, optional)
	c.text("pageToken", &r.PageToken, optional)
}

func (r *ListPushConfigsResponse) fields(c *codec) {
	list(c, "configs", &r.Configs, kept)
	c.text("nextPageToken", &r.NextPageToken, optional)
}

func (r *ExtendedCardRequest) fields(c *codec) {
	c.text("tenant", &r.Tenant, optional)
}

// Empty is the answer to DeletePushConfig (google.protobuf.Empty).
type Empty struct{}

func (*Empty) fields(*codec) {}
