package safety

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPlainJSON: a reader of plain JSON reads and refuses what encoding/json reads and refuses.
func TestPlainJSON(t *testing.T) {
	var p plainJSON
	for _, text := range []string{
		`{}`, `[]`, `null`, `true`, `false`, `""`, `0`, `-1.5e+3`, `{"a":{"b":[1,"two",null,[],{}]},"c":true}`, " {\t\"a\" :\n1 ,\r\"b\": [ 1 , 2 ] } ",
		`"\u00e9\n\"\\\/ é"`, `"\ud83d\ude00 \ud83d"`, "\"\xff\"", `{"a\u0041":"x"}`, `"` + strings.Repeat("x", 100) + `"`, `18446744073709551615`,
		``, ` `, `{`, `}`, `[`, `[1`, `[1,`, `[1,]`, `[,1]`, `[1 2]`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{,}`, `{a:1}`, `{"a" 1}`, `{1:2}`,
		`"`, `"\`, `"\"`, `"\x"`, `"\u12"`, "\"\n\"", `nul`, `tru`, `fals`, `+1`, `01`, `1.`, `.5`, `1e`, `-`, `--1`, `1-1`, `1 1`, `{}{}`, "1\x00",
	} {
		var want any
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		refused := d.Decode(&want) != nil || !json.Valid([]byte(text))
		no, err := p.read([]byte(text))
		if (err != nil) != refused {
			t.Errorf("%q: refused %t, want %t", text, err != nil, refused)
		} else if diff := cmp.Diff(want, p.decoded(no)); !refused && diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
	deep := strings.Repeat("[", mostNested)
	if _, err := p.read([]byte(deep + strings.Repeat("]", mostNested))); err != nil {
		t.Errorf("%d lists in each other: %v", mostNested, err)
	}
	if _, err := p.read([]byte("[" + deep + strings.Repeat("]", mostNested+1))); err == nil {
		t.Errorf("%d lists in each other are read", mostNested+1)
	}
}

// decoded returns a value as encoding/json decodes it.
func (p *plainJSON) decoded(no int) any {
	v := &p.values[no]
	switch v.kind {
	case plainNull:
		return nil
	case plainBool:
		return v.text == "true"
	case plainNumber:
		return json.Number(v.text)
	case plainText:
		return v.text
	case plainList:
		list := make([]any, 0, p.count(no))
		for i := v.first; i != 0; i = p.values[i].next {
			list = append(list, p.decoded(i))
		}
		return list
	}
	object := map[string]any{}
	for i := v.first; i != 0; i = p.values[i].next {
		object[p.values[i].name] = p.decoded(i)
	}
	return object
}
