package packed

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	"judgefarm/judge"
	"judgefarm/testcases"
)

// encoder turns Go values into what JSON has, and keeps the blobs apart. A field that
// is zero is left out; one that is empty but there ([] and {}) is not, since nil may
// mean something else.
type encoder struct {
	blobs map[string]testcases.Data // by SHA-256
}

// notPacked are fields of the problem that say who it is, not what it is.
var notPacked = map[string]bool{"ID": true, "Digest": true}

// problem is the value of the manifest's problem.
func (e *encoder) problem(p *testcases.Problem) (any, error) {
	bare := *p
	v := reflect.ValueOf(&bare).Elem()
	for name := range notPacked {
		v.FieldByName(name).SetZero()
	}
	return e.value(v)
}

func (e *encoder) value(v reflect.Value) (any, error) {
	if isNil(v) {
		return nil, nil
	}
	switch t := v.Type(); {
	case t == dataType:
		return e.data(v.Interface().(testcases.Data))
	case t == bytesType:
		return e.source(v.Bytes()), nil
	case t == scoreType:
		text, err := v.Interface().(judge.Score).MarshalText()
		return string(text), err
	}
	switch v.Kind() {
	case reflect.String:
		return textOf(v.String()), nil
	case reflect.Bool:
		return v.Bool(), nil
	case reflect.Int, reflect.Int64:
		return v.Int(), nil
	case reflect.Pointer:
		return e.value(v.Elem())
	case reflect.Struct:
		return e.fields(v)
	case reflect.Slice, reflect.Array:
		return e.list(v)
	case reflect.Map:
		return e.mapping(v)
	}
	return nil, fmt.Errorf("packed problems hold no %s", v.Type())
}

func (e *encoder) fields(v reflect.Value) (any, error) {
	out := map[string]any{}
	for name, i := range fieldsOf(v.Type()) {
		if v.Field(i).IsZero() {
			continue
		}
		item, err := e.value(v.Field(i))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[name] = item
	}
	return out, nil
}

func (e *encoder) list(v reflect.Value) (any, error) {
	out := make([]any, v.Len())
	for i := range out {
		item, err := e.value(v.Index(i))
		if err != nil {
			return nil, err
		}
		out[i] = item
	}
	return out, nil
}

func (e *encoder) mapping(v reflect.Value) (any, error) {
	out := map[string]any{}
	for _, key := range v.MapKeys() {
		if !utf8.ValidString(key.String()) {
			return nil, fmt.Errorf("key %q: must be UTF-8", key.String())
		}
		item, err := e.value(v.MapIndex(key))
		if err != nil {
			return nil, err
		}
		out[key.String()] = item
	}
	return out, nil
}

// isNil tells what is null in a list or mapping, and left out of an object.
func isNil(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map:
		return v.IsNil()
	}
	return false
}

func (e *encoder) data(d testcases.Data) (any, error) {
	sum, err := sumOf(d)
	if err != nil {
		return nil, err
	}
	e.blobs[sum] = d
	return sum, nil
}

func (e *encoder) source(b []byte) string {
	hash := sha256.Sum256(b)
	sum := hex.EncodeToString(hash[:])
	e.blobs[sum] = testcases.BytesData(b)
	return sum
}

// textOf keeps bytes that are not UTF-8, which JSON would replace.
func textOf(s string) any {
	if utf8.ValidString(s) {
		return s
	}
	return map[string]string{"base64": base64.StdEncoding.EncodeToString([]byte(s))}
}

// fieldsOf returns the fields of a struct by their names in the manifest:
// CheckerProgram is checker_program.
func fieldsOf(t reflect.Type) map[string]int {
	all := map[string]int{}
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() {
			all[snake(f.Name)] = i
		}
	}
	return all
}

func snake(name string) string {
	var out strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		first := unicode.IsUpper(r) && i > 0
		if first && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}
