package main

// risky is the change that the author asks about.
var risky = Change{File: "uploads/open.go", Summary: "Open an upload by its name", Source: `// Open opens an upload.
func (u *Uploads) Open(name string) (*os.File, error) {
	path := u.folder + "/" + name
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("upload %q: %v", name, err)
	}
	return file, nil
}
`}

// mended is what the author makes of it afterwards.
var mended = Change{File: risky.File, Summary: risky.Summary, Source: `// Open opens an upload.
func (u *Uploads) Open(name string) (*os.File, error) {
	file, err := os.OpenInRoot(u.folder, name)
	if err != nil {
		return nil, fmt.Errorf("upload %q: %w", name, err)
	}
	return file, nil
}
`}
