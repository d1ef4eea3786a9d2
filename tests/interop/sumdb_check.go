// SPDX-License-Identifier: Apache-2.0

// Go's own notes and tiles (golang.org/x/mod/sumdb), run over files that this project made, and the
// other way round. Standard output is what was verified; any disagreement is exit 1.
//
//	open FILE VKEY...           note.Open; prints "name hex" of each verified signature, then the text
//	sign NAME FILE              note.Sign of a file's text by a new key; prints the vkey, then the note
//	tiles DIR VKEY              every record of a static log by tlog.TileHashReader, and proofs both ways
//	record N I ROOT FILE HASH.. tlog.CheckRecord of the record in FILE
//	tree N M ROOTN ROOTM HASH.. tlog.CheckTree
package main

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func read(path string) []byte {
	bytes, err := os.ReadFile(path)
	must(err)
	return bytes
}

func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	must(err)
	return n
}

func hash(text string) tlog.Hash {
	raw, err := base64.StdEncoding.DecodeString(text)
	must(err)
	if len(raw) != tlog.HashSize {
		must(errors.New("not a hash: " + text))
	}
	var h tlog.Hash
	copy(h[:], raw)
	return h
}

func hashes(texts []string) []tlog.Hash {
	var out []tlog.Hash
	for _, text := range texts {
		out = append(out, hash(text))
	}
	return out
}

func openNote(path string, vkeys []string) *note.Note {
	var verifiers []note.Verifier
	for _, vkey := range vkeys {
		verifier, err := note.NewVerifier(vkey)
		must(err)
		verifiers = append(verifiers, verifier)
	}
	opened, err := note.Open(read(path), note.VerifierList(verifiers...))
	must(err)
	return opened
}

// Tiles of a folder. C2SP tlog-tiles leaves the height, always 8, out of its paths.
type folder struct{ path string }

func (folder) Height() int                                { return 8 }
func (folder) SaveTiles(tiles []tlog.Tile, data [][]byte) {}
func (f folder) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	var out [][]byte
	for _, tile := range tiles {
		name := "tile/" + strings.TrimPrefix(tile.Path(), "tile/8/")
		bytes, err := os.ReadFile(filepath.Join(f.path, name))
		if err != nil {
			return nil, err
		}
		out = append(out, bytes)
	}
	return out, nil
}

// The records of an entry bundle: each with its length as two bytes, big-endian.
func records(f folder, n int64, width int) [][]byte {
	tile := tlog.Tile{H: 8, L: -1, N: n, W: width}
	name := "tile/entries/" + strings.TrimPrefix(tile.Path(), "tile/8/data/")
	bytes := read(filepath.Join(f.path, name))
	var out [][]byte
	for len(bytes) > 0 {
		length := int(bytes[0])<<8 | int(bytes[1])
		out = append(out, bytes[2:2+length])
		bytes = bytes[2+length:]
	}
	if len(out) != width {
		must(fmt.Errorf("%s holds %d records", name, len(out)))
	}
	return out
}

func checkTiles(path, vkey string) {
	f := folder{path}
	lines := strings.Split(openNote(filepath.Join(path, "checkpoint"), []string{vkey}).Text, "\n")
	tree := tlog.Tree{N: number(lines[1]), Hash: hash(lines[2])}
	reader := tlog.TileHashReader(tree, f)
	for n := int64(0); n*256 < tree.N; n++ {
		width := 256
		if tree.N-n*256 < 256 {
			width = int(tree.N - n*256)
		}
		var indexes []int64
		bundle := records(f, n, width)
		for i := range bundle {
			indexes = append(indexes, tlog.StoredHashIndex(0, n*256+int64(i)))
		}
		stored, err := reader.ReadHashes(indexes)
		must(err)
		for i, record := range bundle {
			if stored[i] != tlog.RecordHash(record) {
				must(fmt.Errorf("record %d is not that of the tile", n*256+int64(i)))
			}
		}
		at := n * 256
		proof, err := tlog.ProveRecord(tree.N, at, reader)
		must(err)
		must(tlog.CheckRecord(proof, tree.N, tree.Hash, at, tlog.RecordHash(bundle[0])))
		older, err := tlog.TreeHash(at+1, reader)
		must(err)
		growth, err := tlog.ProveTree(tree.N, at+1, reader)
		must(err)
		must(tlog.CheckTree(growth, tree.N, tree.Hash, at+1, older))
	}
	fmt.Printf("%d %s\n", tree.N, base64.StdEncoding.EncodeToString(tree.Hash[:]))
}

func main() {
	args := os.Args[1:]
	switch args[0] {
	case "open":
		opened := openNote(args[1], args[2:])
		for _, sig := range opened.Sigs {
			fmt.Printf("%s %08x\n", sig.Name, sig.Hash)
		}
		fmt.Print(opened.Text)
	case "sign":
		private, vkey, err := note.GenerateKey(nil, args[1])
		must(err)
		signer, err := note.NewSigner(private)
		must(err)
		signed, err := note.Sign(&note.Note{Text: string(read(args[2]))}, signer)
		must(err)
		fmt.Printf("%s\n%s", vkey, signed)
	case "tiles":
		checkTiles(args[1], args[2])
	case "record":
		record := tlog.RecordHash(read(args[4]))
		must(tlog.CheckRecord(hashes(args[5:]), number(args[1]), hash(args[3]), number(args[2]), record))
	case "tree":
		must(tlog.CheckTree(hashes(args[5:]), number(args[1]), hash(args[3]), number(args[2]), hash(args[4])))
	default:
		must(errors.New("unknown command"))
	}
}
