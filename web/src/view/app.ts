// The replay: which frame, what is selected, and that everything on the page agrees about it.
import { save } from "../common/download";
import { choice, foreign, h } from "../common/dom";
import { number, tick } from "../common/format";
import { isDark, themeButton } from "../common/theme";
import type { FrameData, Replay } from "./data";
import { compose, filmDialog, png, recordFilm, recordPictures, sheet, type FilmOrder } from "./film";
import { barsOf, countStates, difference, Legend, rulesOf } from "./legend";
import { stateSigns, stateStyle } from "./palette";
import { resolve } from "../common/palette";
import type { Orbit } from "./camera";
import { actionOf, type Keyed } from "./keys";
import { controls, helpDialog, icon, layout, usualSpeed, type Commands, type Layout } from "./layout";
import type { Frames } from "./load";
import { ContactTable, contactsCsv, jointTable, nameOf, selectionPanel, type Shown } from "./panel";
import { isMany, Picture, type Hit } from "./picture";
import { abscissa, catalogue, firstChoice, ofSelection, Plot, Span, type Curves, type Mark } from "./plots";
import type { Inside } from "./outside";
import { arrowScales, ColourScales, lengthOfBars, roomForArrows, sample } from "./scales";
import { readAddress, writeAddress, type Place } from "./address";
import { Ghost } from "./ghost";
import { errorSeries, firstFrame, worstFrames } from "./notable";
import { Choice, idOf, jointIdOf } from "./selection";
import { Geometries, mostBodies, mostContacts, partsOf } from "./shapes";
import { watchable, Watch, type Watched } from "./watch";
import { upAxis } from "./camera";
import { barRadius, type Measure, type Settings } from "./stage";

interface Answer { name: string; index: number } // index in FrameData.results

const FRAMES_A_SECOND = 30; // of files without times
const CROWD = 300; // contacts: from here on bodies show them by default
const WORST = 50; // ... and this many of them are marked
const WORST_FRAMES = 5; // that have a mark
const LOW = 600; // pixels: below this height the curves wait until they are asked for
const NARROW = 700; // pixels: two pictures beside each other would be too small
const ADDRESS_EVERY = 400; // ms; browsers allow some hundred changes in half a minute

export class App implements Commands, Keyed, Inside {
  readonly set: Settings;
  readonly choice = new Choice();
  private readonly ui: Layout;
  private readonly answers: Answer[];
  shown: Answer[]; // one, or two beside each other; none without answers
  private readonly x: ReturnType<typeof abscissa>;
  private readonly plots: Plot[];
  private readonly legend: Legend;
  private readonly table: ContactTable;
  private readonly colours = new ColourScales();
  private readonly measure: Measure = {
    size: 1, long: 0.26, force: 1, slide: 1, bar: 0.1, contact: { low: 0, high: 1, log: false }, body: { low: 0, high: 1, log: false },
  };
  private readonly dialog = helpDialog();
  private readonly filmBox: HTMLDialogElement;
  picture: Picture | null = null;
  private noPicture = ""; // why there is none
  private scaled = -1; // the chunk that arrows were scaled by
  frame = 0; // that is shown, or was asked for last
  data: FrameData | null = null; // of the frame, once it is here
  playing = false;
  private head = 0; // where playing is, in values of x
  private before = 0; // time of the last picture, ms
  private rate: number;
  private looping = true;
  private smooth = false;
  private followed = 0;
  private told = 0; // timer of the live region
  private listed = 0; // when table and panel were last written, ms
  private later = 0; // timer for table and panel
  private readonly usual: Settings; // as the page begins without an address
  private wanted: Place | null = null; // what the address asks for and waits for its frame
  private noting = 0; // timer of the address
  private solverBoxes: HTMLSelectElement[] = [];
  private readonly ghost: Ghost | null; // the second recording
  private readonly watched: Watched[];
  private readonly curves: Curves[]; // of the selection
  private readonly watch: Watch;
  private seen = ""; // what the curves of the selection are of
  private worstOnes: number[] = []; // frames, the worst first
  private own: number[]; // frames that the user marked

  constructor(root: HTMLElement, readonly replay: Replay, private readonly frames: Frames) {
    this.answers = [];
    for (const result of replay.results) if (result.answers) this.answers.push({ name: result.solver, index: this.answers.length });
    const crowd = mostContacts(replay) > CROWD, beside = this.answers.length > 1 && innerWidth >= NARROW;
    this.usual = {
      opacity: 1, contacts: true, others: true, most: crowd ? WORST : Infinity, colour: "state", log: true, normals: false,
      forces: this.answers.length > 0 && !crowd, split: false, sliding: false, cones: false, through: !crowd, joints: true, stretch: 1,
      body: crowd ? "worst" : "own", shadows: !isMany(mostBodies(replay)), grid: true, ghost: true,
    };
    const place = readAddress(location.hash);
    this.set = { ...this.usual, ...place.set };
    this.shown = this.answersOf(place.solvers) ?? this.answers.slice(0, beside ? 2 : 1);
    this.x = abscissa(replay);
    const duration = this.length() ? (this.x.unit ? this.length() : this.length() / FRAMES_A_SECOND) : 0;
    this.rate = usualSpeed(duration);
    this.ui = layout(root, replay, this.set, this.answers.length > 0, duration,
      themeButton(() => this.dress()), this.solverChoices(), this);
    this.filmBox = filmDialog(Math.max(1, replay.frames.length), (a, b) => this.lasting(a, b), (order) => this.makeFilm(order));
    root.append(this.dialog, this.filmBox);
    this.legend = new Legend(this.ui.legend, replay.states, replay.other?.file ?? "");
    this.ghost = replay.other ? new Ghost(replay.other, frames.served) : null;
    this.table = new ContactTable(this.answers.length > 0, (i) => this.selectContact(i), () => this.list());
    this.ui.contacts.append(this.table.element);
    const all = catalogue(replay), span = new Span(this.x), first = firstChoice(all);
    this.watched = watchable(upAxis(replay.gravity).toArray()).filter((w) => (this.answers.length > 0 || !w.answer)
      && (w.kind === "body" || replay.frames.some((f) => (w.kind === "joint" ? f.joints : f.contacts))));
    this.watch = new Watch(frames, () => this.showWatched());
    this.curves = ofSelection(this.watched);
    this.own = place.marks.filter((m) => m < replay.frames.length);
    this.plots = first.map((c, i) => new Plot([...all, ...this.curves], c, span, replay.title, i + 1, (f) => this.seek(f), () => this.watchSelection()));
    this.ui.plots.append(...this.plots.map((p) => p.element));
    addEventListener("keydown", (event) => this.key(event));
    addEventListener("hashchange", () => this.openHash());
    document.title = `${replay.title} \u2013 stickslip replay`;
    this.label();
    this.mark();
    const embedded = window.parent !== window;
    this.panel(!embedded);
    this.plain(!embedded && (innerHeight >= LOW || innerWidth < NARROW));
    if (replay.frames.length === 0) {
      this.say("There are no frames to show.");
      this.ui.play.disabled = true;
      return;
    }
    this.wanted = place;
    this.seek(this.frameOf(place) ?? firstFrame(replay, this.shown.map((a) => a.name)));
  }

  // ---- the address --------------------------------------------------------------------------------------------------

  /** The frame that the address asks for. One that a thinned page leaves out is stood for by the last one before it, whose
   * contacts are others. */
  private frameOf(place: Place): number | null {
    const { frame, path } = place;
    if (path === null) return frame;
    const { frames } = this.replay, found = frames.findIndex((f) => f.path.endsWith(path));
    if (found >= 0) return found;
    const before = frames.findLastIndex((f) => f.path.slice(-path.length) < path);
    if (before < 0) return frame;
    if (place.kind !== "body") place.kind = null;
    return before;
  }

  /** The answers of these solvers; null: there are none, or they are not named. */
  private answersOf(names: string[]): Answer[] | null {
    const found = names.flatMap((name) => this.answers.find((a) => a.name === name) ?? []);
    return found.length ? found : null;
  }

  /** The address was changed by hand or by a link. */
  private openHash(): void {
    const place = readAddress(location.hash), frame = this.frameOf(place);
    Object.assign(this.set, this.usual, place.set);
    this.ui.show.replaceChildren(controls(this.set, this.answers.length > 0, this.replay, this));
    const answers = this.answersOf(place.solvers);
    if (answers) this.show([answers[0].index, answers[1]?.index ?? -1]);
    this.own = place.marks.filter((m) => m < this.replay.frames.length);
    this.mark();
    this.wanted = place;
    this.seek(frame ?? this.frame);
  }

  /** Selection and camera of the address, once the frame and the picture are here. */
  private settle(place: Place, data: FrameData): void {
    this.wanted = null;
    this.choice.clear();
    if (place.kind === "body" && data.id.includes(place.chosen)) this.choice.body(place.chosen);
    if (place.kind === "contact" && place.chosen < data.gap.length) this.choice.between(data, "contact", place.chosen);
    if (place.kind === "joint" && 2 * place.chosen < data.jointPair.length) this.choice.between(data, "joint", place.chosen);
    const { picture } = this;
    if (!picture) return;
    if (place.camera) {
      picture.orbit.place6 = place.camera;
      picture.orbit.touched = true;
    } else if (this.choice.pick.kind !== "none") this.approach();
  }

  /** Keeps the address at what is shown. In a frame of another page it stays as it is. */
  note(): void {
    if (this.noting || window.parent !== window) return;
    this.noting = window.setTimeout(() => {
      this.noting = 0;
      const { pick, index } = this.choice, orbit = this.picture?.orbit, kind = pick.kind === "none" || (pick.kind !== "body" && index < 0) ? null : pick.kind;
      const hash = writeAddress({
        frame: this.frame, path: null, solvers: this.answers.length > 1 ? this.shown.map((a) => a.name) : [], kind,
        chosen: kind === "body" ? pick.body : index, camera: orbit?.touched ? orbit.place6 : null, marks: this.own, set: this.set,
      }, this.usual);
      // A page inside another document's text has no address of its own.
      try {
        if (hash !== location.hash) history.replaceState(history.state, "", hash);
      } catch {
        /* the address stays */
      }
    }, ADDRESS_EVERY);
  }

  private length(): number {
    const { values } = this.x;
    return values.length > 1 ? values[values.length - 1] - values[0] : 0;
  }

  private solverChoices(): HTMLElement[] {
    if (this.answers.length === 0) return [];
    const options = this.answers.map((a): [string, string] => [String(a.index), a.name]);
    if (this.answers.length === 1) return [h("span", { class: "solver" }, "Solver ", foreign(this.answers[0].name))];
    const first = choice("Solver", options, String(this.shown[0].index), (v) => this.show([Number(v), this.shown[1]?.index ?? -1]));
    const second = choice("Compare with", [["-1", "none"], ...options], String(this.shown[1]?.index ?? -1), (v) => this.show([this.shown[0].index, Number(v)]));
    first.classList.add("solver");
    second.classList.add("solver");
    this.solverBoxes = [first, second].map((label) => label.querySelector("select")!);
    return [first, second];
  }

  private show([first, second]: number[]): void {
    this.shown = [this.answers[first]];
    if (second >= 0) this.shown.push(this.answers[second]);
    this.picture?.setResults(this.shown.map((a) => a.index));
    if (this.data && this.picture) this.picture.settle(this.around());
    [first, second].forEach((index, i) => (this.solverBoxes[i].value = String(index)));
    this.label();
    this.mark();
    this.refresh();
    this.list();
  }

  private label(): void {
    this.ui.labels.replaceChildren(...(this.shown.length > 1 ? this.shown.map((a) => h("span", null, a.name)) : []));
  }

  /** Light or dark. */
  private dress(): void {
    this.picture?.dress(isDark());
    if (this.picture) this.refresh();
  }

  /** A few frames of the chunk that is at hand. */
  private around(): FrameData[] {
    return sample(this.frames.siblings(this.frame), 6);
  }

  // ---- frames -------------------------------------------------------------------------------------------------------

  seek(frame: number): void {
    const last = this.replay.frames.length - 1;
    if (last < 0) return;
    frame = Math.min(last, Math.max(0, Math.round(frame)));
    this.head = this.x.values[frame];
    this.frames.forgive();
    this.go(frame);
  }

  step(by: number): void {
    if (this.playing) this.toggle();
    this.seek(this.frame + by);
  }

  private go(frame: number): void {
    this.frame = frame;
    if (this.ui.scrubber.value !== String(frame)) this.ui.scrubber.value = String(frame);
    this.clock();
    for (const plot of this.plots) plot.show(frame);
    const here = this.frames.peek(frame);
    if (here) this.arrive(frame, here);
    else {
      this.data = null;
      this.frames.get(frame).then((data) => this.arrive(frame, data), (error: Error) => this.fail(frame, error));
    }
    this.frames.prefetch(frame, this.playing && this.looping);
  }

  private clock(): void {
    const info = this.replay.frames[this.frame], of = this.replay.frames.length;
    const time = info.time === null ? "" : `${number(info.time, 5)} s \u00b7 `;
    this.ui.clock.textContent = `${time}${this.frame + 1} / ${of}`;
    this.ui.scrubber.setAttribute("aria-valuetext", `frame ${this.frame + 1} of ${of}${info.time === null ? "" : `, ${number(info.time, 5)} seconds`}`);
  }

  private fail(frame: number, error: Error): void {
    if (frame !== this.frame) return;
    if (this.playing) this.toggle();
    this.say(error.message);
  }

  private say(text: string): void {
    this.ui.notice.textContent = text;
    this.ui.notice.hidden = text === "";
  }

  private arrive(frame: number, data: FrameData): void {
    if (frame !== this.frame) return;
    this.data = data;
    if (!this.picture && !this.noPicture) this.open();
    this.say(this.noPicture);
    if (this.wanted) this.settle(this.wanted, data);
    else this.choice.find(data);
    this.rescale();
    this.refresh();
    if (!this.followed) this.picture?.widen(data);
    const now = performance.now();
    clearTimeout(this.later);
    // While it plays, numbers that no one can read are not written for every frame.
    if (!this.playing || now - this.listed > 1000) this.list();
    else this.later = window.setTimeout(() => this.list(), 1000);
    this.announce();
  }

  /** Makes the picture, when the first frame is here: only frames tell how large the scene is. */
  private open(): void {
    const around = this.around();
    const parts = partsOf(this.replay);
    try {
      this.picture = new Picture(this.replay, parts, new Geometries(this.replay.meshes, parts.length), this.ui.canvas, (hit) => this.hit(hit), () => this.note());
    } catch {
      this.noPicture = "No 3-D view: WebGL is not available here. Plots and tables work.";
      this.ui.canvas.hidden = true;
      return;
    }
    this.picture.before = (now) => this.tick(now);
    this.picture.setResults(this.shown.length ? this.shown.map((a) => a.index) : [0]);
    this.picture.dress(isDark());
    this.measure.size = this.picture.settle(around);
    this.measure.long = roomForArrows(this.measure.size, this.picture.usualReach());
    this.measure.bar = lengthOfBars(this.measure.size, this.picture.usualReach());
    this.picture.fit([this.data!]);
    this.picture.after = () => this.showScale();
    void this.fitAll(this.picture);
  }

  /** Moves the camera so that all that happens later is seen as well, unless the user was quicker. */
  private async fitAll(picture: Picture): Promise<void> {
    const last = this.replay.frames.length - 1, first = this.data!;
    const wanted = [0, 0.25, 0.5, 0.75, 1].map((share) => Math.round(share * last));
    const found = await Promise.allSettled(wanted.map((frame) => this.frames.get(frame)));
    const frames = found.flatMap((f) => (f.status === "fulfilled" ? [f.value] : []));
    if (!picture.orbit.touched) picture.fitAll([first, ...frames]);
  }

  private arrows(frames: readonly FrameData[]): ReturnType<typeof arrowScales> {
    const g = this.replay.gravity;
    return arrowScales(frames, this.measure.size, this.measure.long, g ? Math.hypot(...g) : 9.81);
  }

  autoScale(): void {
    if (this.data) Object.assign(this.measure, this.arrows([this.data]));
    this.refresh();
  }

  /** Arrows keep their scale as long as it fits: a blow must not make the forces of rest invisible for good. */
  private rescale(): void {
    const chunk = this.frames.chunkOf(this.frame);
    if (chunk === this.scaled) return;
    const found = this.arrows(this.around());
    if (!found) return;
    const change = found.force / this.measure.force;
    if (this.scaled < 0 || change > 4 || change < 0.25) Object.assign(this.measure, found);
    this.scaled = chunk;
  }

  /** Brings the picture and its legend to what is chosen. */
  private refresh(share = 0, next: FrameData | null = null): void {
    const data = this.data;
    if (!data) return;
    this.note();
    const ghost = this.ghost?.at(this.momentOf(share), () => this.refresh(share, next)) ?? null;
    this.ghost?.measure(data, ghost);
    this.colours.feed(data, this.frames.siblings(this.frame), this.shown.map((a) => a.index), this.set, this.measure);
    this.legend.show(data, this.shown, this.set, this.measure);
    if (!this.picture) return;
    const { pick } = this.choice;
    this.follow(data);
    this.picture.frame = data;
    this.picture.contactsShown = this.set.contacts;
    this.picture.othersShown = this.set.others;
    this.picture.jointsShown = this.set.joints;
    this.picture.update(data, next, share, this.set, this.measure, {
      body: pick.kind === "body" ? pick.body : 0, contact: this.choice.contact, joint: this.choice.joint,
    }, ghost);
  }

  /** The time of the frame, or between it and the next. */
  private momentOf(share: number): number {
    const { values } = this.x, now = values[this.frame];
    return share > 0 && this.frame + 1 < values.length ? now + share * (values[this.frame + 1] - now) : now;
  }

  /** The length of an arrow and the width of a bar for a round impulse, at the distance the camera looks at. */
  private showScale(): void {
    const { scale } = this.ui, { picture, measure, set } = this;
    const drawn = picture !== null && this.shown.length > 0 && set.forces && this.data !== null && (this.data.gap.length > 0 || this.data.jointPair.length > 0);
    scale.hidden = !drawn;
    if (!drawn) return;
    const each = picture.pixelsPerMetre() * measure.force * set.stretch; // pixels for 1 N s
    const raw = 90 / each, power = 10 ** Math.floor(Math.log10(raw)), value = power * (raw / power >= 5 ? 5 : raw / power >= 2 ? 2 : 1);
    const wide = Math.max(1, 2 * barRadius(measure) * ((value * measure.force * set.stretch) / measure.long) * picture.pixelsPerMetre());
    const text = `${tick(value)} N s`, key = `${text} ${(value * each).toFixed(0)} ${wide.toFixed(1)}`;
    if (scale.dataset.key === key) return;
    scale.dataset.key = key;
    const line = h("span", { class: "rule" });
    line.style.width = `${(value * each).toFixed(1)}px`;
    line.style.height = `${Math.min(14, wide).toFixed(1)}px`;
    scale.replaceChildren(line, h("span", null, text));
  }

  private follow(data: FrameData): void {
    const i = this.followed > 0 ? data.id.indexOf(this.followed) : -1;
    if (i < 0 || !this.picture) return;
    this.picture.orbit.target.fromArray(data.position, 3 * i);
    this.picture.orbit.place();
  }

  /** Writes table and panels. */
  private list(): void {
    const data = this.data;
    this.listed = performance.now();
    if (!data) return;
    const shown: Shown = { frame: data, info: this.replay.frames[this.frame], results: this.shown, states: this.replay.states };
    this.ui.selection.replaceChildren(selectionPanel(shown, this.choice, {
      body: (id) => this.selectBody(id), contact: (i) => this.selectContact(i), joint: (j) => this.selectJoint(j),
      follow: (id) => this.followBody(id), followed: () => this.followed, plot: () => this.plotSelection(),
    }));
    this.table.show(shown, this.shown[0]?.index ?? 0, this.choice.contact);
    this.ui.joints.replaceChildren(jointTable(shown, this.choice.joint, (j) => this.selectJoint(j)));
    this.ui.compare.replaceChildren(...this.shown.flatMap((a) => rulesOf(this.replay.results, a.name, this.shown.length > 1)),
      ...(this.shown.length > 1 ? [difference(data, this.shown)] : []));
  }

  /** Tells people who do not see the picture, once it stands still. */
  private announce(): void {
    clearTimeout(this.told);
    if (this.playing) return;
    this.told = window.setTimeout(() => {
      if (this.data) this.ui.live.textContent = this.summary(this.data);
    }, 500);
  }

  private summary(data: FrameData): string {
    const parts = [`Frame ${this.frame + 1} of ${this.replay.frames.length}, ${data.id.length} bodies, ${data.gap.length} contacts`];
    for (const a of this.shown) {
      const counts = countStates(data, a.index, this.replay.states.length);
      parts.push(`${this.shown.length > 1 ? `${a.name}: ` : ""}${this.replay.states.map((s, i) => `${counts[i]} ${s}`).join(", ")}`);
    }
    return `${parts.join("; ")}.`;
  }

  // ---- playing ------------------------------------------------------------------------------------------------------

  toggle(): void {
    if (this.replay.frames.length < 2) return;
    this.playing = !this.playing;
    const last = this.replay.frames.length - 1, label = this.playing ? "Pause" : "Play";
    this.ui.play.setAttribute("aria-label", label);
    this.ui.play.title = `${label} (space)`;
    this.ui.play.replaceChildren(icon(this.playing ? "pause" : "play"));
    if (!this.playing) {
      this.list();
      this.announce();
      this.refresh();
      return;
    }
    if (this.frame === last) this.go(0);
    this.head = this.x.values[this.frame];
    this.before = performance.now();
    this.next();
  }

  private next(): void {
    if (this.picture) this.picture.ask();
    else if (this.playing) requestAnimationFrame((now) => this.tick(now));
  }

  /** Before each picture: moves on by the time that went by. A frame that is not here yet is waited for. */
  private tick(now: number): void {
    if (!this.playing) return;
    const passed = Math.min(0.25, Math.max(0, (now - this.before) / 1000));
    this.before = now;
    if (this.data) {
      const { values, unit } = this.x, last = values.length - 1;
      this.head += passed * this.rate * (unit ? 1 : FRAMES_A_SECOND);
      if (this.head > values[last]) {
        if (this.looping) this.head = values[0];
        else {
          this.go(last);
          this.toggle();
          return;
        }
      }
      let frame = this.head < values[this.frame] ? 0 : this.frame;
      while (frame < last && values[frame + 1] <= this.head) frame++;
      if (frame !== this.frame) this.go(frame);
      if (this.smooth && this.data && frame < last) {
        const next = this.frames.peek(frame + 1);
        this.refresh(next ? (this.head - values[frame]) / (values[frame + 1] - values[frame]) : 0, next);
      }
    }
    this.next();
  }

  speed(value: number): void { this.rate = value; }
  loop(on: boolean): void { this.looping = on; }
  interpolate(on: boolean): void { this.smooth = on; }
  changed(): void { this.refresh(); }

  // ---- camera -------------------------------------------------------------------------------------------------------

  view(name: "angle" | "top" | "front" | "side"): void {
    this.steer((orbit) => orbit.view(name));
  }

  fit(): void {
    if (this.data) this.picture?.fit([this.data]);
    this.note();
  }

  /** Flies to what is selected. */
  approach(): void {
    const { data, picture, choice } = this;
    if (!data || !picture) return;
    const { kind, body, pair } = choice.pick, i = kind === "body" ? data.id.indexOf(body) : choice.index;
    if (kind === "none" || i < 0) return;
    const points = kind === "body" ? data.position : kind === "contact" ? data.point : data.jointPoint;
    const reach = kind === "body" ? picture.reachOf(body) : Math.max(...pair.filter((id) => id > 0).map((id) => picture.reachOf(id)), 0);
    picture.approach(points.subarray(3 * i, 3 * i + 3), 1.5 * (reach || picture.reachOf(0)));
    this.note();
  }

  /** Does something with the camera, if there is one. */
  steer(move: (orbit: Orbit) => void): void {
    if (!this.picture) return;
    move(this.picture.orbit);
    this.picture.orbit.touched = true;
    this.picture.ask();
    this.note();
  }

  toggleFollow(): void {
    this.followBody(this.followed || this.choice.pick.kind !== "body" ? 0 : this.choice.pick.body);
  }

  private followBody(id: number): void {
    this.followed = id;
    this.refresh();
    this.list();
  }

  // ---- pictures and films -------------------------------------------------------------------------------------------

  /** Draws the frame that is shown, with its caption, on a canvas that can be kept. */
  private copyTo(canvas: HTMLCanvasElement, film: boolean): void {
    const { picture, data } = this, info = this.replay.frames[this.frame];
    if (!picture || !data) return;
    picture.drawFull(film);
    const style = getComputedStyle(document.documentElement), colour = (name: string) => style.getPropertyValue(name).trim();
    const rule = this.ui.scale.hidden ? null : this.ui.scale.querySelector<HTMLElement>(".rule");
    compose(canvas, picture.canvas, picture.ratio, {
      title: this.replay.title,
      source: [this.replay.file, info.time === null ? "" : `t = ${number(info.time, 5)} s`, `frame ${this.frame + 1} of ${this.replay.frames.length}`].filter(Boolean).join(" \u00b7 "),
      names: this.shown.map((a) => a.name), bars: barsOf(data, this.shown.length > 0, this.set, this.measure),
      states: this.shown.map((a) => countStates(data, a.index, this.replay.states.length).flatMap((n, i) =>
        (n > 0 ? { sign: stateSigns[i] ?? "?", text: `${this.replay.states[i]} ${n}`, colour: resolve(stateStyle(i)) } : []))),
      scale: rule ? { text: this.ui.scale.textContent ?? "", long: parseFloat(rule.style.width), wide: parseFloat(rule.style.height) } : null,
      ink: colour("--ink"), soft: colour("--ink-soft"), paper: colour("--raised"),
    });
  }

  async png(): Promise<void> {
    if (!this.picture || !this.data) return;
    this.picture.drawFull(false);
    const canvas = sheet(this.picture.canvas, this.picture.ratio);
    this.copyTo(canvas, false);
    save(`${this.replay.title}-frame-${this.frame + 1}.png`, "image/png", await png(canvas));
  }

  film(): void {
    if (!this.picture || !this.data) return;
    if (this.playing) this.toggle();
    this.filmBox.showModal();
  }

  /** Seconds that these frames take at the speed that is chosen. */
  private lasting(first: number, last: number): number {
    const { values, unit } = this.x;
    return (values[last] - values[first]) / (this.rate * (unit ? 1 : FRAMES_A_SECOND));
  }

  private async makeFilm(order: FilmOrder): Promise<void> {
    const picture = this.picture!, back = this.frame, { first, last, rate, video } = order, { values } = this.x;
    picture.drawFull(true);
    const canvas = sheet(picture.canvas, picture.ratio), seconds = this.lasting(first, last);
    // At least one picture, and the last frame is the last one.
    const count = video ? Math.max(1, Math.round(seconds * rate)) + 1 : last - first + 1;
    const frameAt = (i: number) => {
      if (!video) return first + i;
      const wanted = values[first] + (count > 1 ? i / (count - 1) : 0) * (values[last] - values[first]);
      let frame = first;
      while (frame < last && values[frame + 1] <= wanted + 1e-9) frame++;
      return frame;
    };
    let drawn = -1;
    const shots = {
      count, rate, sheet: canvas, ended: order.ended, told: (done: number) => order.told(done, count),
      show: async (i: number) => {
        const frame = frameAt(i);
        if (frame === drawn) return;
        await this.frames.get(frame);
        if (frame !== this.frame || this.data === null) this.go(frame);
        this.copyTo(canvas, true);
        drawn = frame;
      },
    };
    picture.held = true;
    try {
      const blob = video ? await recordFilm(shots) : await recordPictures(shots);
      if (blob) save(`${this.replay.title}${video ? ".webm" : ".zip"}`, blob.type, blob);
    } finally {
      picture.held = false;
      this.seek(back);
    }
  }

  // ---- frames with marks, curves of the selection -----------------------------------------------------------------

  /** Puts the marks of the worst frames and of the user on the timeline and the curves. */
  private mark(): void {
    const error = errorSeries(this.replay, this.shown.map((a) => a.name)), last = Math.max(1, this.replay.frames.length - 1);
    this.worstOnes = error ? worstFrames(error.values, WORST_FRAMES) : [];
    const marks: Mark[] = [
      ...this.worstOnes.map((frame, i) => ({ frame, own: false, text: `Worst frame ${i + 1}: frame ${frame + 1}, ${error!.name.replaceAll("_", " ")} ${number(error!.values[frame])}` })),
      ...this.own.map((frame) => ({ frame, own: true, text: `Marked: frame ${frame + 1}` })),
    ];
    for (const plot of this.plots) plot.setMarks(marks);
    this.ui.marks.replaceChildren(...marks.map(({ frame, own, text }) => {
      const sign = h("button", { type: "button", class: own ? "mark own" : "mark", "aria-label": text, title: text, onclick: () => this.seek(frame) });
      sign.style.left = `${(100 * frame) / last}%`;
      return sign;
    }));
  }

  /** The next one in the order of how bad they are. */
  worstFrame(): void {
    if (this.worstOnes.length === 0) return;
    if (this.playing) this.toggle();
    this.seek(this.worstOnes[(this.worstOnes.indexOf(this.frame) + 1) % this.worstOnes.length]);
  }

  bookmark(): void {
    const at = this.own.indexOf(this.frame);
    if (at >= 0) this.own.splice(at, 1);
    else this.own.push(this.frame);
    this.own.sort((a, b) => a - b);
    this.mark();
    this.note();
    this.ui.live.textContent = at >= 0 ? `Frame ${this.frame + 1} is no longer marked.` : `Frame ${this.frame + 1} marked.`;
  }

  /** Shows or hides numbers and settings. */
  panel(on = this.ui.side.hidden): void {
    this.ui.side.hidden = !on;
    this.ui.side.parentElement!.classList.toggle("alone", !on);
    this.ui.panelButton.setAttribute("aria-pressed", String(on));
  }

  /** Shows or hides the curves. */
  plain(on = this.ui.plots.hidden): void {
    this.ui.plots.hidden = !on;
    this.ui.side.parentElement!.classList.toggle("plain", !on);
    this.ui.curvesButton.setAttribute("aria-pressed", String(on));
  }

  /** Begins the curves of the selection, if a plot shows one and it is another selection than before. */
  private watchSelection(): void {
    const { pick, index } = this.choice, kind = pick.kind === "none" || (pick.kind === "body" && pick.body === 0) ? null : pick.kind;
    // A plot of a contact becomes one of a body when a body is selected.
    for (const plot of this.plots) {
      if (!kind || !plot.selected || plot.selected === kind) continue;
      plot.take(this.watched.find((w) => w.kind === kind)?.key ?? "");
      if (plot.selected === kind) return; // take() called this again
    }
    const wanted = this.watched.filter((w) => w.kind === kind && this.plots.some((plot) => plot.key === w.key));
    const seen = JSON.stringify([kind, kind === "body" ? pick.body : pick.pair, kind === "body" ? 0 : index < 0 ? -1 : this.picked, wanted.map((w) => w.key), this.shown]);
    if (seen === this.seen) return;
    this.seen = seen;
    if (!kind || wanted.length === 0) {
      this.watch.stop();
      this.showWatched();
    } else void this.watch.start({ ...pick, pair: [...pick.pair], point: [...pick.point] }, this.frame, this.shown, wanted);
  }

  private picked = 0; // counts selections, so that another contact of the same pair is another selection

  private showWatched(): void {
    for (const curve of this.curves) curve.lines = this.watch.lines.get(curve.key) ?? [];
    for (const plot of this.plots) if (plot.selected) plot.renew();
  }

  /** Shows the first curve of what is selected in the last plot. */
  private plotSelection(): void {
    const first = this.watched.find((w) => w.kind === this.choice.pick.kind);
    if (first && !this.plots.some((plot) => plot.selected === first.kind)) this.plots[this.plots.length - 1]?.take(first.key);
  }

  // ---- selection ----------------------------------------------------------------------------------------------------

  private hit(hit: Hit | null): void {
    if (hit?.kind === "contact") this.selectContact(hit.id);
    else if (hit?.kind === "joint") this.selectJoint(hit.id);
    else if (hit) this.selectBody(hit.id);
    else this.selectNothing();
  }

  selectNothing(): void {
    this.choice.clear();
    this.selected();
  }

  /** Everything agrees about another selection. */
  private selected(): void {
    this.picked++;
    this.refresh();
    this.list();
    this.watchSelection();
  }

  selectBody(id: number): void {
    this.choice.body(id);
    this.selected();
    this.ui.live.textContent = id > 0 ? `${nameOf(id)} selected.` : "Scenery selected.";
  }

  selectContact(i: number): void {
    if (!this.data || i < 0 || i >= this.data.gap.length) return;
    this.choice.between(this.data, "contact", i);
    this.selected();
    const ids = ([0, 1] as const).map((side) => nameOf(idOf(this.data!, i, side)));
    this.ui.live.textContent = `Contact ${i} between ${ids.join(" and ")} selected.`;
  }

  selectJoint(j: number): void {
    if (!this.data || j < 0 || 2 * j >= this.data.jointPair.length) return;
    this.choice.between(this.data, "joint", j);
    this.selected();
    const ids = ([0, 1] as const).map((side) => nameOf(jointIdOf(this.data!, j, side)));
    this.ui.live.textContent = `Joint ${j} between ${ids.join(" and ")} selected.`;
  }

  worst(): void {
    if (!this.data) return;
    this.selectContact(this.table.worst(this.data, this.shown[0]?.index ?? 0));
    this.approach();
  }

  nextContact(by: number): void {
    const n = this.data?.gap.length ?? 0;
    if (n > 0) this.selectContact(this.choice.contact >= 0 ? (this.choice.contact + by + n) % n : 0);
  }

  nextBody(): void {
    const ids = this.data?.id;
    if (ids && ids.length > 0) this.selectBody(ids[(ids.indexOf(this.choice.pick.kind === "body" ? this.choice.pick.body : -1) + 1) % ids.length]);
  }

  /** All contacts of the frame as a table. */
  csv(): void {
    const data = this.data;
    if (!data) return;
    const text = contactsCsv(data, this.shown, this.replay.states);
    save(`${this.replay.title}-frame-${this.frame + 1}-contacts.csv`, "text/csv", text);
  }

  // ---- keys ---------------------------------------------------------------------------------------------------------

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || this.dialog.open || this.filmBox.open || event.defaultPrevented) return;
    const target = event.target as HTMLElement, tag = target.tagName;
    const scrubbing = target === this.ui.scrubber;
    if (tag === "SELECT" || (tag === "INPUT" && !scrubbing && (target as HTMLInputElement).type === "range")) return;
    if (event.key === " " && (tag === "BUTTON" || tag === "INPUT" || tag === "SUMMARY") && !scrubbing) return;
    const act = actionOf(event, this);
    if (!act) return;
    event.preventDefault();
    act();
  }

  clearBodies(): void {
    const range = this.ui.side.querySelector<HTMLInputElement>(".controls .slider input")!;
    range.value = this.set.opacity > 0.5 ? "0.25" : "1";
    range.dispatchEvent(new Event("input"));
  }

  help(): void {
    this.dialog.showModal();
  }
}
