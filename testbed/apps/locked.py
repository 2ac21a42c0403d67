"""Writes a text document that opens with the password $1 alone to the file $2 (OpenDocument 1.2, part
3, §3.4)."""

import base64
import hashlib
import os
import subprocess
import sys
import zipfile
import zlib

KIND = "application/vnd.oasis.opendocument.text"
OFFICE = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
TEXT = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
MANIFEST = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"

password, path = sys.argv[1:]
content = f"""<?xml version="1.0" encoding="UTF-8"?>
<office:document-content xmlns:office="{OFFICE}" xmlns:text="{TEXT}" office:version="1.2">
<office:body><office:text><text:p>Open at last</text:p></office:text></office:body>
</office:document-content>""".encode()

deflate = zlib.compressobj(wbits=-15)
packed = deflate.compress(content) + deflate.flush()
checksum = hashlib.sha256(packed[:1024]).digest()
salt, vector = os.urandom(16), os.urandom(16)
start = hashlib.sha256(password.encode()).digest()
key = hashlib.pbkdf2_hmac("sha1", start, salt, 1024, 32)
padding = 16 - len(packed) % 16
padded = packed + bytes(padding - 1) + bytes([padding])
cipher = ["openssl", "enc", "-aes-256-cbc", "-nopad", "-K", key.hex(), "-iv", vector.hex()]
locked = subprocess.run(cipher, input=padded, capture_output=True, check=True).stdout


def text(data):
    return base64.b64encode(data).decode()


manifest = f"""<?xml version="1.0" encoding="UTF-8"?>
<m:manifest xmlns:m="{MANIFEST}" m:version="1.2">
<m:file-entry m:full-path="/" m:version="1.2" m:media-type="{KIND}"/>
<m:file-entry m:full-path="content.xml" m:media-type="text/xml" m:size="{len(content)}">
<m:encryption-data m:checksum-type="{MANIFEST}#sha256-1k" m:checksum="{text(checksum)}">
<m:algorithm m:algorithm-name="http://www.w3.org/2001/04/xmlenc#aes256-cbc"
 m:initialisation-vector="{text(vector)}"/>
<m:key-derivation m:key-derivation-name="PBKDF2" m:key-size="32" m:iteration-count="1024"
 m:salt="{text(salt)}"/>
<m:start-key-generation m:key-size="32"
 m:start-key-generation-name="http://www.w3.org/2000/09/xmldsig#sha256"/>
</m:encryption-data></m:file-entry></m:manifest>"""

with zipfile.ZipFile(path, "w") as document:
    document.writestr("mimetype", KIND)
    document.writestr("content.xml", locked)
    document.writestr("META-INF/manifest.xml", manifest)
