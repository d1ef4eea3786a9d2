// SPDX-License-Identifier: Apache-2.0
// The OpenAPI document against a public validator, which must also refuse a broken one.
//
//   node openapi_validator.mjs DOCUMENT        exit 0 accepted, 1 refused, 77 no validator here
import { readFileSync } from 'node:fs';

let Validator;
try {
  ({ Validator } = await import('@seriousme/openapi-schema-validator'));
} catch {
  console.log('SKIPPED: the validator is not installed; tools/test installs it with npm ci');
  process.exit(77);
}

async function validate(document) {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(document);
  return { version: validator.version, valid, errors };
}

const document = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const judged = await validate(document);
if (!judged.valid) {
  console.log(JSON.stringify(judged.errors, null, 1));
  process.exit(1);
}
if (judged.version !== '3.1') {
  console.log(`this is OpenAPI ${judged.version}, not 3.1`);
  process.exit(1);
}
const broken = structuredClone(document);
delete broken.info.title;
if ((await validate(broken)).valid) {
  console.log('the validator accepts a document without a title: it proves nothing');
  process.exit(1);
}
console.log(`accepted as OpenAPI ${judged.version}`);
