// Package mix is the arithmetic that keyed draws and the sums of traces rest on:
//
//	x := mix.Bits(seed + mix.Golden)
//
// It promises that its values never change: they are those of every seed. It knows no limits.
package mix
