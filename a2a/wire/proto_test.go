package wire

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

func ptr[T any](v T) *T { return &v }

// full are objects that say all that they can.
func full() map[string]Object {
	text, url := "t", "u"
	meta := Metadata{"k": json.RawMessage(`1`)}
	at := time.Date(2025, 10, 28, 10, 30, 0, 0, time.UTC)
	message := Message{"m", "c", "t", User, []Part{{Text: &text}}, meta, []string{"e"}, []string{"r"}}
	status := TaskStatus{Working, &message, at}
	artifact := Artifact{"a", "n", "d", []Part{{URL: &url}}, meta, []string{"e"}}
	task := Task{"t", "c", status, []Artifact{artifact}, []Message{message}, meta}
	push := PushConfig{"tenant", "id", "t", "u", "token", &Authentication{"Bearer", "x"}}
	requirement := SecurityRequirement{"s": {"scope"}}
	extension := AgentExtension{"u", "d", true, meta}
	capabilities := Capabilities{true, true, []AgentExtension{extension}, true}
	skill := Skill{"i", "n", "d", []string{"t"}, []string{"e"}, []string{"i"}, []string{"o"}, []SecurityRequirement{requirement}}
	signature := CardSignature{"p", "s", json.RawMessage(`{}`)}
	iface := AgentInterface{"u", JSONRPC, "t", Version}
	card := AgentCard{"n", "d", []AgentInterface{iface}, &Provider{"u", "o"}, "1", "u", capabilities,
		map[string]SecurityScheme{"s": {MutualTLS: &MutualTLSScheme{"d"}}}, []SecurityRequirement{requirement},
		[]string{"i"}, []string{"o"}, []Skill{skill}, []CardSignature{signature}, "u"}
	return map[string]Object{
		"Message":                      &message,
		"TaskStatus":                   &status,
		"Artifact":                     &artifact,
		"Task":                         &task,
		"TaskStatusUpdateEvent":        &StatusUpdate{"t", "c", status, meta},
		"TaskArtifactUpdateEvent":      &ArtifactUpdate{"t", "c", artifact, true, true, meta},
		"AuthenticationInfo":           push.Authentication,
		"TaskPushNotificationConfig":   &push,
		"SendMessageConfiguration":     &SendConfiguration{[]string{"o"}, &push, ptr(0), true},
		"SendMessageRequest":           &SendMessageRequest{"t", message, SendConfiguration{ReturnImmediately: true}, meta},
		"GetTaskRequest":               &GetTaskRequest{"t", "i", ptr(0)},
		"ListTasksRequest":             &ListTasksRequest{"t", "c", Working, 1, "p", ptr(0), at, true},
		"ListTasksResponse":            &ListTasksResponse{[]Task{task}, "n", 1, 2},
		"CancelTaskRequest":            &CancelTaskRequest{"t", "i", meta},
		"SubscribeToTaskRequest":       &SubscribeRequest{"t", "i"},
		"GetTaskPushConfigRequest":     &PushConfigRequest{"t", "t", "i"},
		"ListTaskPushConfigsRequest":   &ListPushConfigsRequest{"t", "t", 1, "p"},
		"ListTaskPushConfigsResponse":  &ListPushConfigsResponse{[]PushConfig{push}, "n"},
		"GetExtendedAgentCardRequest":  &ExtendedCardRequest{"t"},
		"AgentCard":                    &card,
		"AgentInterface":               &iface,
		"AgentProvider":                card.Provider,
		"AgentCapabilities":            &capabilities,
		"AgentExtension":               &extension,
		"AgentSkill":                   &skill,
		"AgentCardSignature":           &signature,
		"SecurityRequirement":          &requirement,
		"APIKeySecurityScheme":         &APIKeyScheme{"d", "header", "n"},
		"HTTPAuthSecurityScheme":       &HTTPAuthScheme{"d", "Bearer", "JWT"},
		"MutualTlsSecurityScheme":      &MutualTLSScheme{"d"},
		"SecurityScheme (all arms)":    &SecurityScheme{APIKey: new(APIKeyScheme), HTTPAuth: new(HTTPAuthScheme), MutualTLS: new(MutualTLSScheme)},
		"Part (all arms)":              &Part{&text, []byte{1}, &url, json.RawMessage(`null`), meta, "f", "m"},
		"StreamResponse (all arms)":    &StreamResponse{&task, &message, &StatusUpdate{}, &ArtifactUpdate{}},
		"SendMessageResponse (all)":    &SendMessageResponse{&task, &message},
		"Empty":                        &Empty{},
		"SecurityRequirement (values)": &scopes{[]string{"x"}},
	}
}

// protoFields are the fields of specification/a2a.proto, v1.0.1, in its own
// spelling. A trailing ! marks those that are REQUIRED.
var protoFields = map[string]string{
	"Message":                      "message_id! context_id task_id role! parts! metadata extensions reference_task_ids",
	"TaskStatus":                   "state! message timestamp",
	"Artifact":                     "artifact_id! name description parts! metadata extensions",
	"Task":                         "id! context_id status! artifacts history metadata",
	"TaskStatusUpdateEvent":        "task_id! context_id! status! metadata",
	"TaskArtifactUpdateEvent":      "task_id! context_id! artifact! append last_chunk metadata",
	"AuthenticationInfo":           "scheme! credentials",
	"TaskPushNotificationConfig":   "tenant id task_id url! token authentication",
	"SendMessageConfiguration":     "accepted_output_modes task_push_notification_config history_length return_immediately",
	"SendMessageRequest":           "tenant message! configuration metadata",
	"GetTaskRequest":               "tenant id! history_length",
	"ListTasksRequest":             "tenant context_id status page_size page_token history_length status_timestamp_after include_artifacts",
	"ListTasksResponse":            "tasks! next_page_token! page_size! total_size!",
	"CancelTaskRequest":            "tenant id! metadata",
	"SubscribeToTaskRequest":       "tenant id!",
	"GetTaskPushConfigRequest":     "tenant task_id! id!",
	"ListTaskPushConfigsRequest":   "tenant task_id! page_size page_token",
	"ListTaskPushConfigsResponse":  "configs next_page_token",
	"GetExtendedAgentCardRequest":  "tenant",
	"AgentCard":                    "name! description! supported_interfaces! provider version! documentation_url capabilities! security_schemes security_requirements default_input_modes! default_output_modes! skills! signatures icon_url",
	"AgentInterface":               "url! protocol_binding! tenant protocol_version!",
	"AgentProvider":                "url! organization!",
	"AgentCapabilities":            "streaming push_notifications extensions extended_agent_card",
	"AgentExtension":               "uri description required params",
	"AgentSkill":                   "id! name! description! tags! examples input_modes output_modes security_requirements",
	"AgentCardSignature":           "protected! signature! header",
	"SecurityRequirement":          "schemes",
	"APIKeySecurityScheme":         "description location! name!",
	"HTTPAuthSecurityScheme":       "description scheme! bearer_format",
	"MutualTlsSecurityScheme":      "description",
	"SecurityScheme (all arms)":    "api_key_security_scheme http_auth_security_scheme mtls_security_scheme",
	"Part (all arms)":              "text raw url data metadata filename media_type",
	"StreamResponse (all arms)":    "task message status_update artifact_update",
	"SendMessageResponse (all)":    "task message",
	"Empty":                        "",
	"SecurityRequirement (values)": "list",
}

// camel is ProtoJSON's name for a field.
func camel(field string) string {
	words := strings.Split(field, "_")
	for i, w := range words[1:] {
		words[i+1] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "")
}

func membersOf(o Object) []string {
	var list []string
	for _, m := range appendMembers(nil, Encode(o)) {
		list = append(list, string(m.name))
	}
	slices.Sort(list)
	return list
}

func TestEveryObjectHasTheFieldsOfTheProto(t *testing.T) {
	if a, b := slices.Sorted(maps.Keys(full())), slices.Sorted(maps.Keys(protoFields)); !slices.Equal(a, b) {
		t.Fatalf("objects %v, fields of %v", a, b)
	}
	for name, o := range full() {
		var want []string
		for _, f := range strings.Fields(protoFields[name]) {
			want = append(want, camel(strings.TrimSuffix(f, "!")))
		}
		slices.Sort(want)
		if got := membersOf(o); !slices.Equal(got, want) {
			t.Errorf("%s: members %v, want %v", name, got, want)
		}
	}
}

// zero are the zero values of the objects, by the proto's name.
func zero() map[string]Object {
	return map[string]Object{
		"Message": new(Message), "TaskStatus": new(TaskStatus), "Artifact": new(Artifact), "Task": new(Task),
		"TaskStatusUpdateEvent": new(StatusUpdate), "TaskArtifactUpdateEvent": new(ArtifactUpdate),
		"AuthenticationInfo": new(Authentication), "TaskPushNotificationConfig": new(PushConfig),
		"SendMessageConfiguration": new(SendConfiguration), "SendMessageRequest": new(SendMessageRequest),
		"GetTaskRequest": new(GetTaskRequest), "ListTasksRequest": new(ListTasksRequest), "ListTasksResponse": new(ListTasksResponse),
		"CancelTaskRequest": new(CancelTaskRequest), "AgentCard": new(AgentCard), "AgentInterface": new(AgentInterface),
		"AgentProvider": new(Provider), "AgentCapabilities": new(Capabilities), "AgentExtension": new(AgentExtension),
		"AgentSkill": new(Skill), "AgentCardSignature": new(CardSignature), "APIKeySecurityScheme": new(APIKeyScheme),
		"HTTPAuthSecurityScheme": new(HTTPAuthScheme), "MutualTlsSecurityScheme": new(MutualTLSScheme),
	}
}

func TestRequiredMembersAreWrittenEvenEmptyAndOthersAreNot(t *testing.T) {
	for name, o := range zero() {
		var want []string
		for _, f := range strings.Fields(protoFields[name]) {
			if required, ok := strings.CutSuffix(f, "!"); ok {
				want = append(want, camel(required))
			}
		}
		slices.Sort(want)
		if got := membersOf(o); !slices.Equal(got, want) {
			t.Errorf("%s: members %v, want %v", name, got, want)
		}
	}
}

func TestMembersAreReadInTheProtosOwnSpelling(t *testing.T) {
	fresh := zero()
	for name, o := range full() {
		into, ok := fresh[name]
		if !ok {
			continue
		}
		c := codec{writing: true, out: []byte("{")}
		fields := strings.Fields(protoFields[name])
		for _, m := range appendMembers(nil, Encode(o)) {
			at := slices.IndexFunc(fields, func(f string) bool { return camel(strings.TrimSuffix(f, "!")) == string(m.name) })
			c.key(strings.TrimSuffix(fields[at], "!"))
			c.out = append(c.out, m.value...)
		}
		if err := Decode(append(c.out, '}'), into); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got, want := string(Encode(into)), string(Encode(o)); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

func TestEnumsHaveTheNumbersOfTheProto(t *testing.T) {
	for number, want := range map[string]TaskState{"1": Submitted, "2": Working, "3": Completed, "4": Failed, "5": Canceled,
		"6": InputRequired, "7": Rejected, "8": AuthRequired} {
		var s TaskStatus
		if err := Decode([]byte(`{"state":`+number+`}`), &s); err != nil || s.State != want {
			t.Errorf("%s: got %s (%v), want %s", number, s.State, err, want)
		}
	}
	for number, want := range map[string]Role{"1": User, "2": Agent} {
		m := Message{}
		if err := Decode([]byte(`{"messageId":"m","role":`+number+`,"parts":[{"text":""}]}`), &m); err != nil || m.Role != want {
			t.Errorf("%s: got %s (%v), want %s", number, m.Role, err, want)
		}
	}
}
