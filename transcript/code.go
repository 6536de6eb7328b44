package transcript

// Code names a rule that a trace broke.
type Code string

// Codes of any value, wherever it stands.
const (
	CodeShape        Code = "E_SHAPE"         // not an object
	CodeRequired     Code = "E_REQUIRED"      // a member is missing
	CodeUnknownField Code = "E_UNKNOWN_FIELD" // a member too many
	CodeType         Code = "E_TYPE"          // not of its type, or empty
	CodeDuplicate    Code = "E_DUPLICATE"     // a list names something twice
	CodeDate         Code = "E_DATE"          // a text that is no date
	CodeDigest       Code = "E_DIGEST"        // not sha256: and 64 lower hexadecimal digits
)

// Codes of the conversation as a whole.
const (
	CodeVersion              Code = "E_VERSION"
	CodeTruthMinting         Code = "E_TRUTH_MINTING"
	CodeAuthorityMinting     Code = "E_AUTHORITY_MINTING"
	CodeParticipants         Code = "E_PARTICIPANTS"
	CodeDuplicateParticipant Code = "E_DUPLICATE_PARTICIPANT"
	CodeMessages             Code = "E_MESSAGES"
	CodeMessageLimit         Code = "E_MESSAGE_LIMIT"
)

// Codes of gathers and their contributions.
const (
	CodeGatherMembership            Code = "E_GATHER_MEMBERSHIP"
	CodeGatherPolicy                Code = "E_GATHER_POLICY"
	CodeReducer                     Code = "E_REDUCER"
	CodeGatherQuorum                Code = "E_GATHER_QUORUM"
	CodeNondeterministicReducer     Code = "E_NONDETERMINISTIC_REDUCER"
	CodeDuplicateGather             Code = "E_DUPLICATE_GATHER"
	CodeGatherContribution          Code = "E_GATHER_CONTRIBUTION"
	CodeGatherDeadline              Code = "E_GATHER_DEADLINE"
	CodeDuplicateGatherContribution Code = "E_DUPLICATE_GATHER_CONTRIBUTION"
	CodeGatherIncomplete            Code = "E_GATHER_INCOMPLETE"
)

// Codes of messages.
const (
	CodeDuplicateMessage Code = "E_DUPLICATE_MESSAGE"
	CodeProtocolBinding  Code = "E_PROTOCOL_BINDING"
	CodeStaleEpoch       Code = "E_STALE_EPOCH"
	CodeUnknownSender    Code = "E_UNKNOWN_SENDER"
	CodeStaleGeneration  Code = "E_STALE_GENERATION"
	CodeSequenceGap      Code = "E_SEQUENCE_GAP"
	CodeAudienceScope    Code = "E_AUDIENCE_SCOPE"
	CodeAudienceLabel    Code = "E_AUDIENCE_LABEL"
	CodeKind             Code = "E_KIND"
	CodeExpired          Code = "E_EXPIRED"
	CodeSelfCausation    Code = "E_SELF_CAUSATION"
	CodeCausationGap     Code = "E_CAUSATION_GAP"
)

// Codes of the end of the conversation.
const (
	CodeTerminal              Code = "E_TERMINAL"
	CodeUnknownParticipantRef Code = "E_UNKNOWN_PARTICIPANT_REF"
	CodeAckDeclaration        Code = "E_ACK_DECLARATION"
	CodeTerminalFence         Code = "E_TERMINAL_FENCE"
	CodePostTerminalMessage   Code = "E_POST_TERMINAL_MESSAGE"
	CodeAckBinding            Code = "E_ACK_BINDING"
	CodeAckEvidence           Code = "E_ACK_EVIDENCE"
	CodeUnresolvedCompleted   Code = "E_UNRESOLVED_COMPLETED"
	CodeAckRequired           Code = "E_ACK_REQUIRED"
)

// Codes returns every code there is, in groups.
func Codes() []Code {
	return []Code{
		CodeShape, CodeRequired, CodeUnknownField, CodeType, CodeDuplicate, CodeDate, CodeDigest,
		CodeVersion, CodeTruthMinting, CodeAuthorityMinting, CodeParticipants, CodeDuplicateParticipant, CodeMessages,
		CodeMessageLimit,
		CodeGatherMembership, CodeGatherPolicy, CodeReducer, CodeGatherQuorum, CodeNondeterministicReducer,
		CodeDuplicateGather, CodeGatherContribution, CodeGatherDeadline, CodeDuplicateGatherContribution, CodeGatherIncomplete,
		CodeDuplicateMessage, CodeProtocolBinding, CodeStaleEpoch, CodeUnknownSender, CodeStaleGeneration, CodeSequenceGap,
		CodeAudienceScope, CodeAudienceLabel, CodeKind, CodeExpired, CodeSelfCausation, CodeCausationGap,
		CodeTerminal, CodeUnknownParticipantRef, CodeAckDeclaration, CodeTerminalFence, CodePostTerminalMessage,
		CodeAckBinding, CodeAckEvidence, CodeUnresolvedCompleted, CodeAckRequired,
	}
}
