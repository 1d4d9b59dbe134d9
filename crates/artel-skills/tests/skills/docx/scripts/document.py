class Document:
    pass
