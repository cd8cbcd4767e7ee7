package orchhost

// SystemActivityPrefix is the name prefix of the runtime's own activities. Users cannot register names with this
// prefix.
const SystemActivityPrefix = "__duroxide_syscall:"

// ActivityPanicked begins the failure of an activity whose code panics; the text of the panic follows.
const ActivityPanicked = "activity panicked: "

// The system activities are ordinary untagged activities that every node provides. The last one takes a RemoteKey as
// JSON and returns the value as a JSON string, or null. The others take no input.
const (
	SystemNewGUID    = SystemActivityPrefix + "new_guid"
	SystemUTCNowMs   = SystemActivityPrefix + "utc_now_ms"
	SystemGetKVValue = SystemActivityPrefix + "get_kv_value"
)

// RemoteKey identifies a key in another instance's state.
type RemoteKey struct {
	InstanceID string `json:"instance_id"`
	Key        string `json:"key"`
}
