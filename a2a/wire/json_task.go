package wire

// The names stand at their numbers in the proto.
var (
	stateNames = []TaskState{"TASK_STATE_UNSPECIFIED", Submitted, Working, Completed, Failed, Canceled, InputRequired, Rejected, AuthRequired}
	roleNames  = []Role{"ROLE_UNSPECIFIED", User, Agent}
)

func (p *Part) fields(c *codec) {
	c.textArm("text", &p.Text)
	c.bytes("raw", &p.Raw)
	c.textArm("url", &p.URL)
	c.value("data", &p.Data)
	c.exactlyOne("text, raw, url and data", p.Text != nil, p.Raw != nil, p.URL != nil, p.Data != nil)
	c.metadata("metadata", &p.Metadata)
	c.text("filename", &p.Filename, optional)
	c.text("mediaType", &p.MediaType, optional)
}

func (m *Message) fields(c *codec) {
	c.text("messageId", &m.MessageID, required)
	c.text("contextId", &m.ContextID, optional)
	c.text("taskId", &m.TaskID, optional)
	enum(c, "role", &m.Role, roleNames, required)
	list(c, "parts", &m.Parts, required)
	c.metadata("metadata", &m.Metadata)
	c.texts("extensions", &m.Extensions, optional)
	c.texts("referenceTaskIds", &m.ReferenceTaskIDs, optional)
}

func (s *TaskStatus) fields(c *codec) {
	enum(c, "state", &s.State, stateNames, required)
	maybe(c, "message", &s.Message)
	c.timestamp("timestamp", &s.Timestamp)
}

// Parts may be empty when read: servers end an artifact with a piece that has
// none.
func (a *Artifact) fields(c *codec) {
	c.text("artifactId", &a.ArtifactID, required)
	c.text("name", &a.Name, optional)
	c.text("description", &a.Description, optional)
	list(c, "parts", &a.Parts, kept)
	c.metadata("metadata", &a.Metadata)
	c.texts("extensions", &a.Extensions, optional)
}

func (t *Task) fields(c *codec) {
	c.text("id", &t.ID, required)
	c.text("contextId", &t.ContextID, optional)
	one(c, "status", &t.Status, required)
	list(c, "artifacts", &t.Artifacts, optional)
	list(c, "history", &t.History, optional)
	c.metadata("metadata", &t.Metadata)
}

// The context may be absent when read, as in the specification's own example
// (section 6.2): the task says it too.
func (u *StatusUpdate) fields(c *codec) {
	c.text("taskId", &u.TaskID, required)
	c.text("contextId", &u.ContextID, kept)
	one(c, "status", &u.Status, required)
	c.metadata("metadata", &u.Metadata)
}

func (u *ArtifactUpdate) fields(c *codec) {
	c.text("taskId", &u.TaskID, required)
	c.text("contextId", &u.ContextID, kept)
	one(c, "artifact", &u.Artifact, required)
	c.flag("append", &u.Append)
	c.flag("lastChunk", &u.LastChunk)
	c.metadata("metadata", &u.Metadata)
}

func (r *StreamResponse) fields(c *codec) {
	maybe(c, "task", &r.Task)
	maybe(c, "message", &r.Message)
	maybe(c, "statusUpdate", &r.StatusUpdate)
	maybe(c, "artifactUpdate", &r.ArtifactUpdate)
	c.exactlyOne("task, message, statusUpdate and artifactUpdate",
		r.Task != nil, r.Message != nil, r.StatusUpdate != nil, r.ArtifactUpdate != nil)
}
