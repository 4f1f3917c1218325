package testcases

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"

	"judgefarm/judge"
)

// digestVersion is part of every digest; it rises when the form below changes.
const digestVersion = "judgefarm problem 1"

// Seal validates the problem and sets its digest. Readers of packages call it
// once, when the problem is complete. The digest of one that is Pending holds the
// recipes in place of the data: it names the package. testcases/build seals again
// what it has made, so that a judgement names the very data that it was made with.
// The error is a *judge.BadRequest, or says that data could not be read.
func (p *Problem) Seal() error {
	if err := p.Validate(); err != nil {
		return err
	}
	d, err := p.computeDigest()
	if err != nil {
		return err
	}
	p.Digest = d
	return nil
}

// computeDigest hashes everything that can change a verdict and nothing else:
// limits, checker with its arguments, files and language, then each group's and
// case's name, input and answer, in order, then what of features.go the problem
// has. ID, Name, Format, whether data may be shown and what is for the jury are
// not in it. Every string is preceded by its
// length and every list by its count, so that no two problems share a form. Data
// goes in as its own sha256. The text form is "sha256:" and hex.
func (p *Problem) computeDigest() (string, error) {
	h := canonical{sha256.New()}
	h.text(digestVersion)
	for _, n := range []int64{
		int64(p.Limits.CPU), int64(p.Limits.Wall), int64(p.Limits.Memory), int64(p.Limits.Output), int64(p.Limits.Tasks),
	} {
		h.number(n)
	}
	choice, _ := ParseChecker(p.Checker) // Validate has refused faults; the default has one form
	h.text(choice.ID())
	h.number(int64(len(p.Checker.Args)))
	for _, a := range p.Checker.Args {
		h.text(a)
	}
	own := p.CheckerProgram
	if own == nil {
		own = &Program{}
	}
	h.text(own.Language)
	h.number(int64(len(own.Files)))
	for _, f := range own.Files {
		h.text(f.Name)
		h.text(string(f.Data))
	}
	h.number(int64(len(p.Groups)))
	for _, g := range p.Groups {
		if err := h.group(g); err != nil {
			return "", err
		}
	}
	if err := h.features(p); err != nil {
		return "", err
	}
	if p.Limits.Ptrace { // absent where it is not set, as before there was such a limit
		h.text("ptrace")
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}

type canonical struct{ hash.Hash }

// group is what every problem has of a group; features has the rest.
func (h canonical) group(g Group) error {
	h.text(g.Name)
	h.number(int64(len(g.Cases)))
	for _, c := range g.Cases {
		h.text(c.Name)
		for _, part := range []struct {
			data Data
			from *Recipe
		}{{c.Input, c.InputFrom}, {c.Answer, c.AnswerFrom}} {
			if err := h.dataOr(part.data, part.from); err != nil {
				return fmt.Errorf("digest case %s: %w", c.Name, err)
			}
		}
	}
	for _, below := range g.Groups {
		if err := h.group(below); err != nil {
			return err
		}
	}
	return nil
}

func (h canonical) number(n int64) {
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(n)))
}

func (h canonical) text(s string) {
	h.number(int64(len(s)))
	io.WriteString(h, s)
}

// dataOr is the data or, where it is still to be made, a sum that no data has and
// the recipe.
func (h canonical) dataOr(d Data, from *Recipe) error {
	if d != nil {
		return h.data(d)
	}
	h.Write(make([]byte, sha256.Size))
	b, err := json.Marshal(from.feature())
	if err != nil {
		return err
	}
	h.text(string(b))
	return nil
}

func (h canonical) data(d Data) error {
	r, err := d.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, r)
	if err != nil {
		return judge.Fail(judge.FailProblem, err)
	}
	if n != d.Size() {
		return judge.Fail(judge.FailProblem, fmt.Errorf("read test data: %d bytes, not %d", n, d.Size()))
	}
	h.Write(sum.Sum(nil))
	return nil
}
