package eventdata

import (
	"strconv"
	"unicode/utf8"
)

// AppendNumber appends a key and a number. key includes its punctuation, as in `,"name":`.
func AppendNumber(dst []byte, key string, n uint64) []byte {
	return strconv.AppendUint(append(dst, key...), n, 10)
}

// AppendNumberOrNull is like AppendNumber but writes zero as null.
func AppendNumberOrNull(dst []byte, key string, n uint64) []byte {
	if n == 0 {
		return append(append(dst, key...), "null"...)
	}
	return AppendNumber(dst, key, n)
}

// AppendText appends a key and a string.
func AppendText(dst []byte, key, s string) []byte {
	return AppendString(append(dst, key...), s)
}

// AppendBool appends a key and a boolean.
func AppendBool(dst []byte, key string, b bool) []byte {
	return strconv.AppendBool(append(dst, key...), b)
}

// AppendString appends s in quotes, using only the escapes that JSON requires. Each byte that is not valid UTF-8
// becomes U+FFFD, written literally. Decoding and re-encoding the text therefore does not change it.
func AppendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	i := plain(s)
	if i == len(s) {
		return append(append(append(dst, '"'), s...), '"')
	}
	dst = append(dst, '"')
	from := 0 // everything before this index has been appended
	for i < len(s) {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(append(dst, s[from:i]...), "\uFFFD"...)
				from = i + 1
			}
			i += size
			continue
		}
		if !escaped[c] {
			i++
			continue
		}
		dst = append(dst, s[from:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, `\b`...)
		case '\f':
			dst = append(dst, `\f`...)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		from = i
	}
	return append(append(dst, s[from:]...), '"')
}

// escaped tells which ASCII characters JSON requires to be escaped. Other bytes are looked at as parts of characters.
var escaped = func() (table [256]bool) {
	for c := range table {
		table[c] = c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf
	}
	return table
}()

// plain returns the length of a prefix of s that needs no escapes. It checks eight bytes at a time, because most
// strings need no escapes at all.
func plain(s string) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(s); i += 8 {
		w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		quote, slash := w^('"'*ones), w^('\\'*ones)
		// Subtracting n from a byte below n borrows from the byte's high bit. A byte whose high bit is already set is
		// not plain in any case.
		if (w|(w-' '*ones)|(quote-ones)|(slash-ones))&highs != 0 {
			break
		}
	}
	for i < len(s) && !escaped[s[i]] {
		i++
	}
	return i
}
