// Package mix implements the arithmetic for keyed draws and trace digests:
//
//	x := mix.Bits(seed + mix.Golden)
//
// Its values must never change, because every seed depends on them.
package mix
