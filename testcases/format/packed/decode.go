package packed

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"judgefarm/internal/manifest"
	"judgefarm/judge"
	"judgefarm/testcases"
)

// decoder reads a manifest into Go values, by their types.
type decoder struct {
	folder  *manifest.Folder
	used    map[string]bool   // blobs that were checked
	sources map[string][]byte // those in memory
	total   int64
	depth   int
	held    int64 // bytes of the values of lists, mappings and pointers
}

const (
	maxFaults = 50        // of one manifest are told; after that nothing more is read
	maxDepth  = 64        // of values in values: each level is scanned again
	maxHeld   = 128 << 20 // three bytes, "{}," are a case, which takes a hundred times that
)

func (d *decoder) refuse(at, format string, args ...any) {
	d.folder.Refuse(manifestName, "%s %s", at, fmt.Sprintf(format, args...))
}

// value reads text into v; at is where in the manifest it stands.
func (d *decoder) value(at string, text json.RawMessage, v reflect.Value) {
	if d.folder.Faults() >= maxFaults || isNil(v) && string(text) == "null" {
		return
	}
	if d.depth++; d.depth > maxDepth {
		d.refuse(at, "lies too deep: at most %d levels", maxDepth)
		return
	}
	defer func() { d.depth-- }()
	switch t := v.Type(); {
	case t == dataType:
		if data, ok := d.blob(at, d.text(at, text)); ok {
			v.Set(reflect.ValueOf(data))
		}
	case t == bytesType:
		if b, ok := d.source(at, d.text(at, text)); ok {
			v.SetBytes(b)
		}
	case t == scoreType:
		score := v.Addr().Interface().(*judge.Score)
		if err := score.UnmarshalText([]byte(d.text(at, text))); err != nil {
			d.refuse(at, "%v", err)
		}
	default:
		d.kind(at, text, v)
	}
}

func (d *decoder) kind(at string, text json.RawMessage, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(d.text(at, text))
	case reflect.Bool:
		if s := string(text); s != "true" && s != "false" {
			d.refuse(at, "must be true or false")
		}
		v.SetBool(string(text) == "true")
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(string(text), 10, 64)
		if err != nil || v.OverflowInt(n) {
			d.refuse(at, "must be a whole number")
			return
		}
		v.SetInt(n)
	case reflect.Pointer:
		if !d.hold(at, v.Type().Elem(), 1) {
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		d.value(at, text, v.Elem())
	case reflect.Struct:
		d.fields(at, text, v)
	case reflect.Slice, reflect.Array:
		d.list(at, text, v)
	case reflect.Map:
		d.mapping(at, text, v)
	default:
		d.folder.Fail(fmt.Errorf("%s: packed problems hold no %s", at, v.Type()))
	}
}

// fields reads an object; what is absent stays zero.
func (d *decoder) fields(at string, text json.RawMessage, v reflect.Value) {
	given, err := members(text)
	if err != nil {
		d.refuse(at, "must be an object: %v", err)
		return
	}
	known := fieldsOf(v.Type())
	for _, name := range slices.Sorted(maps.Keys(given)) {
		i, ok := known[name]
		if !ok {
			d.refuse(at+"."+clip(name), "is not known: the package is of a newer version of judgefarm")
			continue
		}
		d.value(at+"."+name, given[name], v.Field(i))
	}
}

func (d *decoder) list(at string, text json.RawMessage, v reflect.Value) {
	var items []json.RawMessage
	if err := json.Unmarshal(text, &items); err != nil || items == nil {
		d.refuse(at, "must be a list")
		return
	}
	if v.Kind() == reflect.Slice && !d.hold(at, v.Type().Elem(), len(items)) {
		return
	}
	if v.Kind() == reflect.Slice {
		v.Set(reflect.MakeSlice(v.Type(), len(items), len(items)))
	}
	if len(items) != v.Len() {
		d.refuse(at, "must have %d items, has %d", v.Len(), len(items))
		return
	}
	for i, item := range items {
		d.value(fmt.Sprintf("%s[%d]", at, i), item, v.Index(i))
	}
}

// hold counts the memory of so many values and tells where it is too much.
func (d *decoder) hold(at string, t reflect.Type, n int) bool {
	if d.held += int64(t.Size()) * int64(n); d.held > maxHeld {
		d.refuse(at, "holds more values than fit into %d MiB", maxHeld>>20)
		return false
	}
	return true
}

func (d *decoder) mapping(at string, text json.RawMessage, v reflect.Value) {
	given, err := members(text)
	if err != nil {
		d.refuse(at, "must be an object: %v", err)
		return
	}
	if !d.hold(at, v.Type().Elem(), len(given)) {
		return
	}
	v.Set(reflect.MakeMapWithSize(v.Type(), len(given)))
	for _, key := range slices.Sorted(maps.Keys(given)) {
		item := reflect.New(v.Type().Elem()).Elem()
		d.value(at+"."+clip(key), given[key], item)
		v.SetMapIndex(reflect.ValueOf(key).Convert(v.Type().Key()), item)
	}
}

// text reads a string, or {"base64": ...} of bytes that are not UTF-8.
func (d *decoder) text(at string, text json.RawMessage) string {
	var s string
	if bytes.HasPrefix(text, []byte(`"`)) && json.Unmarshal(text, &s) == nil {
		return s
	}
	if given, err := members(text); err == nil && len(given) == 1 && json.Unmarshal(given["base64"], &s) == nil {
		if b, err := base64.StdEncoding.DecodeString(s); err == nil {
			return string(b)
		}
	}
	d.refuse(at, `must be a text, or {"base64": ...}`)
	return ""
}

// members reads an object, refusing a name that is there twice: the second would win.
func members(text json.RawMessage) (map[string]json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("must begin with {")
	}
	all := map[string]json.RawMessage{}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		key, _ := name.(string)
		if _, twice := all[key]; twice {
			return nil, fmt.Errorf("%.64q is there twice", key)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		all[key] = value
	}
	_, err := dec.Token()
	return all, err
}

// clip bounds a name from a stranger where it is told.
func clip(name string) string {
	if q := strconv.Quote(name); len(q) > 66 || q[1:len(q)-1] != name {
		return fmt.Sprintf("%.64q", name)
	}
	return name
}

var (
	dataType  = reflect.TypeFor[testcases.Data]()
	bytesType = reflect.TypeFor[[]byte]()
	scoreType = reflect.TypeFor[judge.Score]()
)
