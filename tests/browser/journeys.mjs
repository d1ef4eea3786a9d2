// SPDX-License-Identifier: Apache-2.0
// journeys.mjs KERNELINDEX SAMPLE PICTURES: what a reader does, in a real browser.
//
// Makes a ledger of the corpus's catalog, or of SAMPLE where there is no corpus, serves it, and walks:
// search a short id, pick the run from the candidates, download its bundle and verify it with the
// command, follow it to its group, compare another run with #1, read the log page. Then each kind of
// page, one of a hostile name among them, is parsed by parse5, looked at by axe-core in light and dark,
// and must not scroll sideways at 360 and 1600 pixels. Pictures go to PICTURES.
// Exit 77 when no browser can be had, with the reason.
import {execFileSync, spawn} from 'node:child_process';
import {existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

const [program, sample, pictures] = process.argv.slice(2);
const browserPath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const catalog = join(process.env.KERNELINDEX_CORPUS ?? '',
                     'data/kernelindex-catalog-2026-08-16-0022af0b.jsonl.zst');
const hasCatalog = existsSync(catalog);
const wanted = '/runs/sha256:fa2cdd25d5d22ec080b8e6fcabbd2acc51a3c2ab3bcff1cfc9a5be97cdd4e0dc';
const hostileTitle = '<script>alert(1)</script>"><img src=x onerror=alert(1)> \u202Edesrever ' +
    'W'.repeat(120);

class Skip extends Error {}

let failures = 0;
function expect(holds, what) {
  if (holds) return;
  ++failures;
  console.error(`FAILED: ${what}`);
}

// What drives and looks; all of it or a reason to skip.
async function tools() {
  if (!existsSync(browserPath)) throw new Skip(`there is no ${browserPath} (package chromium)`);
  try {
    const {chromium} = await import('playwright-core');
    const parse5 = await import('parse5');
    const axe = readFileSync(new URL('node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
    return {chromium, parse5, axe};
  } catch (error) {
    throw new Skip(`a package is missing (npm ci in tests/browser): ${error.message.split('\n')[0]}`);
  }
}

const folder = mkdtempSync(join(tmpdir(), 'kernelindex-browser-'));
const environment = {
  ...process.env,
  KERNELINDEX_LEDGER: join(folder, 'ledger'),
  XDG_STATE_HOME: join(folder, 'state'),
};
const run = (...words) =>
    execFileSync(program, words, {env: environment, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe']});

// An operation of a title that would like to be markup; its digest.
function addHostile() {
  const file = join(folder, 'hostile.json');
  writeFileSync(file, JSON.stringify({
    apiVersion: 'kernelindex.dev/v1alpha1',
    kind: 'OperationSpec',
    metadata: {name: 'hostile', title: hostileTitle},
    spec: {
      family: 'hostile',
      axes: {n: {role: 'variable', type: 'integer'}},
      inputs: [{name: 'x', tensor: {shape: ['n'], dtype: 'float32'}}],
      outputs: [{name: 'z', tensor: {shape: ['n'], dtype: 'float32'}}],
      semantics: {mutation: 'none', determinism: 'deterministic'},
    },
  }));
  run('add', file);
  return run('manifest', 'digest', file).trim();
}

async function serve(start) {
  const server = spawn(
      program, ['serve', '--listen', '127.0.0.1:0', '--status-key', join(folder, 'ledger/keys/status.key')],
      {env: environment, stdio: ['ignore', 'pipe', 'pipe']});
  start(server);
  return new Promise((resolve, reject) => {
    let said = '';
    const listen = (piece) => {
      said += piece;
      const found = said.match(/http:\/\/[0-9.]+:\d+/);
      if (found) resolve(found[0]);
    };
    server.stdout.on('data', listen);
    server.stderr.on('data', listen);
    server.on('exit', () => reject(new Error(`the server ended: ${said}`)));
  });
}

const picture = (page, name) => page.screenshot({path: join(pictures, `${name}.png`), fullPage: true});

async function pickRun(page, address) {
  await page.goto(`${address}/`);
  await page.fill('#site-search', hasCatalog ? '01a0032e' : 'submission/15866');
  await page.press('#site-search', 'Enter');
  await picture(page, 'search');
  await page.click('nav[aria-label="Kinds"] a:has-text("BenchmarkRun")');
  for (let pages = 0; pages < 20 && await page.locator(`a[href="${wanted}"]`).count() === 0; ++pages) {
    await page.click('.pager a:has-text("Next")');
  }
  await page.click(`main a[href="${wanted}"]`);
  await picture(page, 'run');
}

async function verifyBundle(page, ledgerId) {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.click('a:has-text("Download the evidence bundle")'),
  ]);
  const bundle = join(folder, 'run.bundle.json');
  await download.saveAs(bundle);
  const verdict = run('verify', bundle, '--ledger-id', ledgerId);
  expect(/level\s+reported/.test(verdict), `the verdict names the level: ${verdict}`);
}

async function journeys(page, address, ledgerId) {
  await pickRun(page, address);
  const urls = [page.url()];
  // One of each kind of page that a run leads to.
  for (const kind of ['operations', 'implementations', 'projects', 'sources', 'manifests']) {
    const link = await page.getAttribute(`main a[href^="/${kind}/"]`, 'href');
    urls.push(address + link);
  }
  await verifyBundle(page, ledgerId);
  await page.click('main a[href^="/groups/"]');
  urls.push(page.url());
  await picture(page, 'group');
  await page.click('table tbody tr:nth-child(2) a[href^="/runs/"]');
  await page.click('a:has-text("Compare with #1")');
  urls.push(page.url());
  expect((await page.textContent('main')).includes('in front'), 'one of a group is in front');
  await picture(page, 'compare');
  await page.click('.site-nav a[href="/log"]');
  expect((await page.textContent('main')).includes('How to verify'), 'the log says how to verify');
  await picture(page, 'log');
  return urls;
}

// What a comparison is exported as, and the feed, by other readers than ours.
async function readExports(page, compareUrl, address) {
  const text = async (url) => (await page.request.get(url)).text();
  const comparison = JSON.parse(await text(`${compareUrl}&format=json`));
  expect(comparison.runs.length === 2, 'the comparison as JSON has two runs');
  const csv = (await text(`${compareUrl}&format=csv`)).trimEnd().split('\r\n');
  expect(csv.length > 10, `the comparison as CSV has rows: ${csv.length}`);
  const table = (await text(`${compareUrl}&format=markdown`)).split('\n').filter((l) => l.startsWith('|'));
  const columns = table.map((l) => l.replaceAll('\\|', '').split('|').length);
  expect(columns.length > 10 && new Set(columns).size === 1, 'the Markdown table has one width');
  const feed = await text(`${address}/records.atom`);
  const ids = await page.evaluate((xml) => {
    const read = new DOMParser().parseFromString(xml, 'application/xml');
    if (read.querySelector('parsererror')) return null;
    return [...read.querySelectorAll('entry > id')].map((id) => id.textContent);
  }, feed);
  expect(ids !== null && ids.length > 0, 'the feed is well-formed XML with entries');
  expect(new Set(ids).size === ids?.length, 'no two entries of the feed have one id');
}

function watch(page) {
  page.on('pageerror', (error) => expect(false, `${page.url()}: a script failed: ${error.message}`));
  page.on('dialog', (dialog) => {
    expect(false, `${page.url()}: a dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on('console', (message) => {
    // That a missing page is missing.
    if (message.type() !== 'error' || page.url().endsWith('/nothing')) return;
    expect(false, `${page.url()}: the console says: ${message.text()}`);
  });
}

async function look(browser, urls, {parse5, axe}) {
  for (const colorScheme of ['light', 'dark']) {
    for (const width of [360, 1600]) {
      const context = await browser.newContext({viewport: {width, height: 900}, colorScheme, bypassCSP: true});
      const page = await context.newPage();
      watch(page);
      for (const url of urls) {
        const response = await page.goto(url);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        expect(wide <= width, `${url} is ${wide} pixels wide at ${width}`);
        await page.evaluate(axe);
        const {violations} = await page.evaluate(() => window.axe.run());
        for (const {id, impact, nodes} of violations) {
          const serious = impact === 'serious' || impact === 'critical';
          expect(!serious, `${url}, ${colorScheme}, ${width}: ${id}: ${nodes[0]?.html}`);
        }
        if (colorScheme !== 'light' || width !== 360) continue;
        parse5.parse(await response.text(), {
          sourceCodeLocationInfo: true,
          onParseError: ({code, startLine, startCol}) =>
              expect(false, `${url}:${startLine}:${startCol}: not valid HTML: ${code}`),
        });
      }
      await context.close();
    }
  }
}

async function hostilePage(page, url) {
  await page.goto(url);
  expect(await page.locator('main script, main img').count() === 0, 'a hostile title makes no element');
  const shown = await page.textContent('main');
  expect(shown.includes('<script>alert(1)</script>'), 'a hostile title is shown as text');
  expect(!shown.includes('\u202E'), 'a hostile title turns nothing around');
}

async function everything(found, keep) {
  mkdirSync(pictures, {recursive: true});
  run('init', '--quiet');
  run('import', ...(hasCatalog ? ['kernelindex-catalog', catalog] : ['sol-execbench', sample]));
  const hostile = addHostile();
  const ledgerId = JSON.parse(run('status', '--json')).ledgerId;
  const address = await serve((server) => { keep.server = server; });
  keep.browser = await found.chromium.launch({
    executablePath: browserPath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
      '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  }).catch((error) => {
    throw new Skip(`the browser does not start: ${error.message.split('\n')[0]}`);
  });
  const context = await keep.browser.newContext({viewport: {width: 1280, height: 900}});
  const page = await context.newPage();
  watch(page);
  const urls = await journeys(page, address, ledgerId);
  await readExports(page, urls.at(-1), address);
  urls.push(`${address}/operations/${hostile}`);
  await hostilePage(page, urls.at(-1));
  const others = ['/', '/records', '/runs', '/operations', '/hardware', '/sources', '/sources/local',
    '/log', '/search?q=rmsnorm', '/nothing'];
  await look(keep.browser, [...urls, ...others.map((path) => address + path)], found);
  // By keyboard: the first stop is the way past the navigation.
  await page.goto(urls[0]);
  await page.keyboard.press('Tab');
  expect(await page.evaluate(() => document.activeElement?.classList.contains('skip')),
         'the first stop of the keyboard skips to the content');
}

const keep = {};
let code = 0;
try {
  await everything(await tools(), keep);
  console.log(failures === 0 ? 'every journey arrived' : `${failures} failures`);
  code = failures === 0 ? 0 : 1;
} catch (error) {
  code = error instanceof Skip ? 77 : 1;
  const skipped = `SKIPPED, the pages were not tried in a browser: ${error.message}`;
  console.error(code === 77 ? skipped : `FAILED: ${error.stack}${error.stderr ?? ''}`);
} finally {
  await keep.browser?.close();
  keep.server?.kill('SIGTERM');
  rmSync(folder, {recursive: true, force: true});
}
process.exit(code);
