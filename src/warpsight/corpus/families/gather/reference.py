def reference(table, index, scale):
    return table[index] * scale
