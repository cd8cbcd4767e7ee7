package orchhost

// SystemActivityPrefix begins the names of the runtime's own activities; users cannot register names with it.
const SystemActivityPrefix = "__duroxide_syscall:"

// The system activities are ordinary untagged activities that every node has. The last one takes a RemoteKey as JSON
// and returns the value as a JSON string, or null; the others have no input.
const (
	SystemNewGUID    = SystemActivityPrefix + "new_guid"
	SystemUTCNowMs   = SystemActivityPrefix + "utc_now_ms"
	SystemGetKVValue = SystemActivityPrefix + "get_kv_value"
)

// RemoteKey names a key in another instance's state.
type RemoteKey struct {
	InstanceID string `json:"instance_id"`
	Key        string `json:"key"`
}
