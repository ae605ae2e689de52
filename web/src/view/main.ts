// The page of `stickslip view`.
import { h } from "../common/dom";
import { themeButton } from "../common/theme";
import { App } from "./app";
import { Frames, loadReplay } from "./load";
import { outside } from "./outside";

async function start(root: HTMLElement): Promise<void> {
  try {
    const { replay, served } = await loadReplay();
    const app = new App(root, replay, new Frames(replay, served));
    Object.defineProperty(window, "stickslip", { value: outside(app) });
  } catch (error) {
    themeButton();
    root.replaceChildren(h("p", { class: "notice alone", role: "alert" }, error instanceof Error ? error.message : String(error)));
  }
}

void start(document.getElementById("page")!);
