// Package mix has the arithmetic for keyed draws and trace digests:
//
//	x := mix.Bits(seed + mix.Golden)
//
// Its values never change, because every seed depends on them.
package mix
