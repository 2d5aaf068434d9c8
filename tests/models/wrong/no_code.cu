// stage: parse
// reason:
{"tool": "bash", "input": "cp original.cu best.cu"}
