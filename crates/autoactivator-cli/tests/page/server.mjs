// A server of its own for each story: started on a model file, killed without warning, started again.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';

export class Server {
  /** `options` are words of the command line; `env` goes on top of the environment. */
  constructor(program, { options = [], env = {} } = {}) {
    this.folder = mkdtempSync(join(process.cwd(), 'model-'));
    Object.assign(this, { program, options, env, listen: '127.0.0.1:0' });
    process.on('exit', () => this.#tidy());
  }

  /** Resolves with the address that the server prints. */
  start() {
    const words = ['serve', 'model.aact', '--listen', this.listen, ...this.options];
    this.child = spawn(this.program, words, { cwd: this.folder, env: { ...process.env, ...this.env } });
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
