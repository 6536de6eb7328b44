package wire

import (
	"encoding/json"
	"strconv"
	"time"

	"pgregory.net/rapid"
)

// The generators of this file draw objects that say all that their types can.

func drawText(t *rapid.T) string { return rapid.String().Draw(t, "text") }

func drawName(t *rapid.T) string { return rapid.StringN(1, 8, -1).Draw(t, "name") }

func drawNames(t *rapid.T) []string {
	return optionally(rapid.SliceOfN(rapid.Custom(drawName), 1, 3)).Draw(t, "names")
}

// optionally draws the zero value half of the time.
func optionally[T any](g *rapid.Generator[T]) *rapid.Generator[T] {
	return rapid.Custom(func(t *rapid.T) (v T) {
		if rapid.Bool().Draw(t, "present") {
			v = g.Draw(t, "value")
		}
		return v
	})
}

func pointer[T any](draw func(*rapid.T) T) *rapid.Generator[*T] {
	return optionally(rapid.Custom(func(t *rapid.T) *T { v := draw(t); return &v }))
}

func several[T any](t *rapid.T, draw func(*rapid.T) T) []T {
	return optionally(rapid.SliceOfN(rapid.Custom(draw), 1, 3)).Draw(t, "several")
}

func drawJSON(t *rapid.T) json.RawMessage {
	return json.RawMessage(rapid.SampledFrom([]string{
		`null`, `0`, `9007199254740993`, `-1.50e+3`, `"\u0000 \" é"`, `[]`, `{}`, `{"a_b": [1, {"c":null}]}`, `true`,
	}).Draw(t, "json"))
}

func drawMetadata(t *rapid.T) Metadata {
	return optionally(rapid.Map(rapid.MapOfN(rapid.Custom(drawText), rapid.Custom(drawJSON), 0, 3),
		func(m map[string]json.RawMessage) Metadata { return m })).Draw(t, "metadata")
}

func drawCount(t *rapid.T) int { return rapid.IntRange(0, 1<<31-1).Draw(t, "count") }

func drawTime(t *rapid.T) time.Time {
	ms := rapid.Int64Range(-62135596800000, 253402300799999).Draw(t, "ms")
	return time.UnixMilli(ms).UTC()
}

func drawPart(t *rapid.T) Part {
	p := Part{Metadata: drawMetadata(t), Filename: drawText(t), MediaType: drawText(t)}
	text := drawText(t)
	switch rapid.IntRange(0, 3).Draw(t, "arm") {
	case 0:
		p.Text = &text
	case 1:
		p.Raw = rapid.SliceOf(rapid.Byte()).Draw(t, "raw")
	case 2:
		p.URL = &text
	default:
		p.Data = drawJSON(t)
	}
	return p
}

func drawMessage(t *rapid.T) Message {
	return Message{
		MessageID: drawName(t), ContextID: drawText(t), TaskID: drawText(t), Role: rapid.SampledFrom(roleNames[1:]).Draw(t, "role"),
		Parts: rapid.SliceOfN(rapid.Custom(drawPart), 1, 3).Draw(t, "parts"), Metadata: drawMetadata(t),
		Extensions: drawNames(t), ReferenceTaskIDs: drawNames(t),
	}
}

func drawState(t *rapid.T) TaskState { return rapid.SampledFrom(stateNames[1:]).Draw(t, "state") }

func drawStatus(t *rapid.T) TaskStatus {
	return TaskStatus{State: drawState(t), Message: pointer(drawMessage).Draw(t, "said"), Timestamp: drawTime(t)}
}

func drawArtifact(t *rapid.T) Artifact {
	return Artifact{ArtifactID: drawName(t), Name: drawText(t), Description: drawText(t), Parts: several(t, drawPart),
		Metadata: drawMetadata(t), Extensions: drawNames(t)}
}

func drawTask(t *rapid.T) Task {
	return Task{ID: drawName(t), ContextID: drawText(t), Status: drawStatus(t), Artifacts: several(t, drawArtifact),
		History: several(t, drawMessage), Metadata: drawMetadata(t)}
}

func drawPush(t *rapid.T) PushConfig {
	return PushConfig{Tenant: drawText(t), ID: drawText(t), TaskID: drawName(t), URL: drawName(t), Token: drawText(t),
		Authentication: pointer(func(t *rapid.T) Authentication {
			return Authentication{Scheme: drawName(t), Credentials: drawText(t)}
		}).Draw(t, "authentication")}
}

func drawEvent(t *rapid.T) StreamResponse {
	switch rapid.IntRange(0, 3).Draw(t, "event") {
	case 0:
		task := drawTask(t)
		return StreamResponse{Task: &task}
	case 1:
		m := drawMessage(t)
		return StreamResponse{Message: &m}
	case 2:
		return StreamResponse{StatusUpdate: &StatusUpdate{TaskID: drawName(t), ContextID: drawText(t), Status: drawStatus(t), Metadata: drawMetadata(t)}}
	}
	return StreamResponse{ArtifactUpdate: &ArtifactUpdate{TaskID: drawName(t), ContextID: drawText(t), Artifact: drawArtifact(t),
		Append: rapid.Bool().Draw(t, "append"), LastChunk: rapid.Bool().Draw(t, "last"), Metadata: drawMetadata(t)}}
}

// call is a request of an operation.
type call struct {
	method  Method
	request Object
	empty   func() Object
}

func of[T any, P objectOf[T]](m Method, r T) call {
	return call{m, P(&r), func() Object { return P(new(T)) }}
}

func drawCall(t *rapid.T) call {
	tenant, id, history := drawText(t), drawName(t), pointer(drawCount).Draw(t, "history")
	switch m := rapid.SampledFrom(methods).Draw(t, "method"); m {
	case SendMessage, SendStreamingMessage:
		return of(m, SendMessageRequest{Tenant: tenant, Message: drawMessage(t), Metadata: drawMetadata(t), Configuration: SendConfiguration{
			AcceptedOutputModes: drawNames(t), PushConfig: pointer(drawPush).Draw(t, "push"), HistoryLength: history,
			ReturnImmediately: rapid.Bool().Draw(t, "return")}})
	case GetTask:
		return of(m, GetTaskRequest{tenant, id, history})
	case ListTasks:
		return of(m, ListTasksRequest{Tenant: tenant, ContextID: drawText(t), Status: optionally(rapid.Custom(drawState)).Draw(t, "status"),
			PageSize: rapid.IntRange(0, maxPage).Draw(t, "size"), PageToken: drawText(t), HistoryLength: history,
			StatusTimestampAfter: drawTime(t), IncludeArtifacts: rapid.Bool().Draw(t, "artifacts")})
	case CancelTask:
		return of(m, CancelTaskRequest{tenant, id, drawMetadata(t)})
	case SubscribeToTask:
		return of(m, SubscribeRequest{tenant, id})
	case CreatePushConfig:
		return of(m, drawPush(t))
	case GetPushConfig, DeletePushConfig:
		return of(m, PushConfigRequest{tenant, id, drawName(t)})
	case ListPushConfigs:
		return of(m, ListPushConfigsRequest{tenant, id, drawCount(t), drawText(t)})
	default:
		return of(m, ExtendedCardRequest{tenant})
	}
}

var methods = []Method{SendMessage, SendStreamingMessage, GetTask, ListTasks, CancelTask, SubscribeToTask,
	CreatePushConfig, GetPushConfig, ListPushConfigs, DeletePushConfig, GetExtendedAgentCard}

func drawRequirement(t *rapid.T) SecurityRequirement {
	return rapid.MapOfN(rapid.Custom(drawName), rapid.Custom(drawNames), 0, 2).Draw(t, "requirement")
}

func drawScheme(t *rapid.T) SecurityScheme {
	switch rapid.IntRange(0, 3).Draw(t, "scheme") {
	case 0:
		return SecurityScheme{APIKey: &APIKeyScheme{drawText(t), drawText(t), drawText(t)}}
	case 1:
		return SecurityScheme{HTTPAuth: &HTTPAuthScheme{drawText(t), drawText(t), drawText(t)}}
	case 2:
		return SecurityScheme{MutualTLS: &MutualTLSScheme{drawText(t)}}
	}
	return SecurityScheme{Other: map[string]json.RawMessage{"openIdConnectSecurityScheme": json.RawMessage(`{"openIdConnectUrl":"u","description":""}`)}}
}

func drawCard(t *rapid.T) AgentCard {
	return AgentCard{
		Name: drawName(t), Description: drawText(t), Version: drawText(t), DocumentationURL: drawText(t), IconURL: drawText(t),
		SupportedInterfaces: []AgentInterface{{URL: drawName(t), ProtocolBinding: drawName(t), Tenant: drawText(t), ProtocolVersion: drawText(t)}},
		Provider:            pointer(func(t *rapid.T) Provider { return Provider{drawText(t), drawText(t)} }).Draw(t, "provider"),
		Capabilities: Capabilities{Streaming: rapid.Bool().Draw(t, "streaming"), PushNotifications: rapid.Bool().Draw(t, "push"),
			ExtendedAgentCard: rapid.Bool().Draw(t, "extended"), Extensions: several(t, func(t *rapid.T) AgentExtension {
				return AgentExtension{drawText(t), drawText(t), rapid.Bool().Draw(t, "required"), drawMetadata(t)}
			})},
		SecuritySchemes:      optionally(rapid.MapOfN(rapid.Custom(drawName), rapid.Custom(drawScheme), 1, 2)).Draw(t, "schemes"),
		SecurityRequirements: several(t, drawRequirement),
		DefaultInputModes:    drawNames(t), DefaultOutputModes: drawNames(t),
		Skills: several(t, func(t *rapid.T) Skill {
			return Skill{drawText(t), drawText(t), drawText(t), drawNames(t), drawNames(t), drawNames(t), drawNames(t), several(t, drawRequirement)}
		}),
		Signatures: several(t, func(t *rapid.T) CardSignature {
			return CardSignature{drawName(t), drawName(t), json.RawMessage(`{"n":` + strconv.Itoa(drawCount(t)) + `}`)}
		}),
	}
}
