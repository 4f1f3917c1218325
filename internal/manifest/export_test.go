package manifest

// Leave sets how many bytes may still be read.
func (f *Folder) Leave(n int64) { f.left = n }
