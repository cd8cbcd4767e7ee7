package sim

// Mix is the finalizer of SplitMix64 (Stafford's variant 13): a bijection in which each input bit affects every output
// bit. All keyed draws use it, so a change here changes every seed's run.
func Mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	x ^= x >> 31
	return x
}

// golden spreads consecutive numbers over all 64 bits. It is odd, so multiplying by it is a bijection.
const golden uint64 = 0x9e3779b97f4a7c15

// mixText is FNV-1a with a final mix. It hashes names that are fixed during setup, where speed does not matter.
func mixText(s string) uint64 {
	h := uint64(0xcbf29ce484222325)
	for i := 0; i < len(s); i++ {
		h = (h ^ uint64(s[i])) * 0x100000001b3
	}
	return Mix(h)
}
