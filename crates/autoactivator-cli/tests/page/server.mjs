// A server of its own for each story: started on a model file, killed without warning, started again.

import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The program that is tested, and a small backbone for photographs. */
export const settings = { program: null, backbone: null };

export class Server {
  /** `options` are words of the command line; `env` goes on top of the environment. */
  constructor({ options = [], env = {} } = {}) {
    this.folder = mkdtempSync(join(process.cwd(), 'model-'));
    Object.assign(this, { options, env, listen: '127.0.0.1:0' });
    process.on('exit', () => this.#tidy());
  }

  /** A server of photographs: a new model behind the small backbone. */
  static ofPhotographs(options = []) {
    return new Server({ options: ['--empty', '--backbone', settings.backbone, ...options] });
  }

  /** Runs the program on files in the server's folder, and gives what it prints. */
  run(...words) {
    const options = { cwd: this.folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };
    return execFileSync(settings.program, words, options);
  }

  /** Writes a file into the server's folder. */
  write(name, content) {
    writeFileSync(join(this.folder, name), content);
  }

  /** Resolves with the address that the server prints. */
  start() {
    // A busy machine may take its time.
    const patience = ['--time-limit', '600'];
    const words = ['serve', 'model.aact', '--listen', this.listen, ...patience, ...this.options];
    this.child = spawn(settings.program, words, { cwd: this.folder, env: { ...process.env, ...this.env } });
    return new Promise((started, failed) => {
      let said = '';
      this.child.stderr.on('data', (data) => {
        said += data;
        const address = said.match(/http:\/\/([\d.]+:\d+)/);
        if (!address) return;
        this.listen = address[1];
        started(`http://${address[1]}/`);
      });
      this.child.on('exit', (code) => failed(new Error(`the server ended with ${code}: ${said}`)));
    });
  }

  /** Sends a request as another client would. */
  async ask(path, body) {
    const headers = { 'content-type': 'application/json' };
    const request = body && { method: 'POST', headers, body: JSON.stringify(body) };
    const response = await fetch(`http://${this.listen}${path}`, request);
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return response.json();
  }

  /** Ends it as a power cut would: no time to say goodbye. */
  async kill() {
    const ended = new Promise((done) => this.child.once('exit', done));
    this.child.kill('SIGKILL');
    await ended;
  }

  /** Leaves nothing running and no file, however the stories end. */
  #tidy() {
    this.child?.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }
}
