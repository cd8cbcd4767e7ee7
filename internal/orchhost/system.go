package orchhost

// SystemActivityPrefix begins the names of the runtime's own activities; users cannot register under it.
const SystemActivityPrefix = "__duroxide_syscall:"

// The system activities: ordinary untagged activities that every node has. The input of the last is a RemoteKey as JSON,
// its result the value as a JSON string, or null; the others have no input.
const (
	SystemNewGUID    = SystemActivityPrefix + "new_guid"
	SystemUTCNowMs   = SystemActivityPrefix + "utc_now_ms"
	SystemGetKVValue = SystemActivityPrefix + "get_kv_value"
)

// RemoteKey names a key of another instance's state.
type RemoteKey struct {
	InstanceID string `json:"instance_id"`
	Key        string `json:"key"`
}
