// SPDX-License-Identifier: Apache-2.0
//
// DSSE envelopes by the published rule and Node's crypto, over files that this project made, and the
// other way round.
//
//   verify FILE PUBLIC-HEX   prints the payload; exit 1 when the signature does not verify
//   sign FILE                an envelope around the statement of a file, by a new key; prints the
//                            public key in hex, then the envelope
'use strict';
const crypto = require('crypto');
const fs = require('fs');

const kType = 'application/vnd.in-toto+json';
const kEd25519 = Buffer.from('302a300506032b6570032100', 'hex');  // SubjectPublicKeyInfo, RFC 8410

// PAE(type, body) = "DSSEv1" SP LEN(type) SP type SP LEN(body) SP body; lengths count bytes.
function pae(type, body) {
  const name = Buffer.from(type, 'utf8');
  return Buffer.concat([
    Buffer.from(`DSSEv1 ${name.length} `), name, Buffer.from(` ${body.length} `), body,
  ]);
}

const [what, file, hex] = process.argv.slice(2);
if (what === 'verify') {
  const envelope = JSON.parse(fs.readFileSync(file, 'utf8'));
  const payload = Buffer.from(envelope.payload, 'base64');
  const key = crypto.createPublicKey(
      {key: Buffer.concat([kEd25519, Buffer.from(hex, 'hex')]), format: 'der', type: 'spki'});
  const good = envelope.payloadType === kType && envelope.signatures.length === 1 &&
      crypto.verify(
          null, pae(envelope.payloadType, payload), key,
          Buffer.from(envelope.signatures[0].sig, 'base64'));
  if (!good) process.exit(1);
  process.stdout.write(payload);
} else if (what === 'sign') {
  const payload = fs.readFileSync(file);
  const {publicKey, privateKey} = crypto.generateKeyPairSync('ed25519');
  const raw = publicKey.export({format: 'der', type: 'spki'}).subarray(kEd25519.length);
  const sig = crypto.sign(null, pae(kType, payload), privateKey);
  process.stdout.write(raw.toString('hex') + '\n' + JSON.stringify({
    signatures: [{sig: sig.toString('base64')}],
    payloadType: kType,
    payload: payload.toString('base64'),
  }));
} else {
  process.exit(2);
}
