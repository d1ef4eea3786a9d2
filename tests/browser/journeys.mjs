// SPDX-License-Identifier: Apache-2.0
// journeys.mjs KERNELINDEX SOURCE DATA PICTURES: what a reader does, in a real browser.
//
// Makes a ledger of DATA (`kernelindex import SOURCE DATA`), serves it, and walks: search a short
// id, pick the run from the candidates, follow it to its group, compare with #1, download the bundle
// and verify it with the command, read the log page. Then axe-core looks at each kind of page in
// light and dark, and no page may scroll sideways at 360 and 1600 pixels. Pictures go to PICTURES.
// Exit 77 when no browser can be had, with the reason.
import {execFileSync, spawn} from 'node:child_process';
import {existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

const [program, source, data, pictures] = process.argv.slice(2);
const browserPath = process.env.CHROMIUM ?? '/usr/bin/chromium';

function skip(why) {
  console.error(`SKIPPED, the pages were not tried in a browser: ${why}`);
  process.exit(77);
}
if (!existsSync(browserPath)) skip(`there is no ${browserPath} (Debian package chromium)`);
let chromium;
try {
  ({chromium} = await import('playwright-core'));
} catch {
  skip('playwright-core is not installed (npm ci in tests/browser)');
}
const axe = readFileSync(new URL('node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

const folder = mkdtempSync(join(tmpdir(), 'kernelindex-browser-'));
mkdirSync(pictures, {recursive: true});
const environment = {
  ...process.env,
  KERNELINDEX_LEDGER: join(folder, 'ledger'),
  XDG_STATE_HOME: join(folder, 'state'),
};
const run = (...words) =>
    execFileSync(program, words, {env: environment, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe']});

let failures = 0;
function expect(holds, what) {
  if (holds) return;
  ++failures;
  console.error(`FAILED: ${what}`);
}

async function serve() {
  const server = spawn(
      program, ['serve', '--listen', '127.0.0.1:0', '--status-key', join(folder, 'ledger/keys/status.key')],
      {env: environment, stdio: ['ignore', 'pipe', 'pipe']});
  const address = await new Promise((resolve, reject) => {
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
  return {server, address};
}

async function journeys(page, address, ledgerId) {
  const short = source === 'kernelindex-catalog' ? '01a0032e' : 'sol-execbench:submission/13511';
  await page.goto(`${address}/`);
  await page.fill('#site-search', short);
  await page.press('#site-search', 'Enter');
  await page.screenshot({path: join(pictures, 'search.png'), fullPage: true});
  if (source === 'kernelindex-catalog') {
    await page.click('nav[aria-label="Kinds"] a:has-text("BenchmarkRun")');
    await page.goto(`${address}/search?q=01a0032e-f7d2&kind=BenchmarkRun`);
  }
  await page.click('main ul.list a[href^="/runs/"]');
  expect(page.url().includes('/runs/sha256:'), 'a candidate leads to its run');
  const runUrl = page.url();
  await page.screenshot({path: join(pictures, 'run.png'), fullPage: true});

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.click('a:has-text("Download the evidence bundle")'),
  ]).catch((error) => [null, error]);
  expect(download !== null, 'the bundle is downloaded');
  if (download) {
    const bundle = join(folder, 'run.bundle.json');
    await download.saveAs(bundle);
    let verdict = '';
    try {
      // No witness has cosigned: that is said, and is no fault of the evidence.
      verdict = run('verify', bundle, '--ledger-id', ledgerId);
    } catch (error) {
      verdict = `${error.stdout}${error.stderr}`;
      expect(false, `the bundle verifies: ${verdict}`);
    }
    expect(/reported/.test(verdict), `the verdict names the level: ${verdict}`);
  }

  await page.click('a[href^="/groups/"]');
  expect(page.url().includes('/groups/sha256:'), 'the run leads to its group');
  await page.screenshot({path: join(pictures, 'group.png'), fullPage: true});
  const groupUrl = page.url();
  await page.click('a:has-text("Compare the first two")');
  expect((await page.textContent('main')).includes('in front'), 'one of a group is in front');
  await page.screenshot({path: join(pictures, 'compare.png'), fullPage: true});
  const compareUrl = page.url();
  await page.click('.site-nav a[href="/log"]');
  expect((await page.textContent('main')).includes('How to verify'), 'the log says how to verify');
  await page.screenshot({path: join(pictures, 'log.png'), fullPage: true});
  return [runUrl, groupUrl, compareUrl, ...['/', '/records', '/runs', '/operations', '/hardware',
    '/sources', '/log', '/search?q=rmsnorm', '/nothing'].map((path) => address + path)];
}

async function look(browser, urls) {
  for (const colorScheme of ['light', 'dark']) {
    for (const width of [360, 1600]) {
      const context = await browser.newContext({viewport: {width, height: 900}, colorScheme, bypassCSP: true});
      const page = await context.newPage();
      for (const url of urls) {
        await page.goto(url);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        expect(wide <= width, `${url} is ${wide} pixels wide at ${width}`);
        await page.evaluate(axe);
        const {violations} = await page.evaluate(() => window.axe.run());
        for (const {id, impact, nodes} of violations) {
          const serious = impact === 'serious' || impact === 'critical';
          expect(!serious, `${url}, ${colorScheme}, ${width}: ${id}: ${nodes[0]?.html}`);
        }
      }
      await context.close();
    }
  }
}

let server;
let browser;
try {
  run('init', '--quiet');
  run('import', source, data);
  const ledgerId = JSON.parse(run('status', '--json')).ledgerId;
  const served = await serve();
  server = served.server;
  browser = await chromium.launch({
    executablePath: browserPath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
      '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  }).catch((error) => skip(`the browser does not start: ${error.message.split('\n')[0]}`));
  const context = await browser.newContext({viewport: {width: 1280, height: 900}});
  const page = await context.newPage();
  page.on('pageerror', (error) => expect(false, `a script failed: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') expect(false, `the console says: ${message.text()}`);
  });
  const urls = await journeys(page, served.address, ledgerId);
  await look(browser, urls);
  // By keyboard: the first stop is the way past the navigation.
  await page.goto(urls[0]);
  await page.keyboard.press('Tab');
  expect(await page.evaluate(() => document.activeElement?.classList.contains('skip')),
         'the first stop of the keyboard skips to the content');
} catch (error) {
  expect(false, error.stack);
} finally {
  await browser?.close();
  server?.kill('SIGTERM');
  rmSync(folder, {recursive: true, force: true});
}
console.log(failures === 0 ? 'every journey arrived' : `${failures} failures`);
process.exit(failures === 0 ? 0 : 1);
