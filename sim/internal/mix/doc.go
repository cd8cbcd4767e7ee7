// Package mix has the arithmetic on which keyed draws and trace digests are built:
//
//	x := mix.Bits(seed + mix.Golden)
//
// Its values never change, because every seed depends on them.
package mix
