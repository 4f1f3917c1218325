def utf8bytes(text):
    return text.encode("utf-8") if isinstance(text, str) else text


def utf8text(data, errors="strict"):
    return data.decode("utf-8", errors) if isinstance(data, (bytes, bytearray, memoryview)) else data
