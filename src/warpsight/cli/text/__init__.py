"""Text for people: what each command prints. Records in, lines on a console out; nothing is computed here."""
