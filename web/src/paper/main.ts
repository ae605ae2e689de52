// A study is written by the program as it is read; the script adds the title of the window and the choice of colours.
import { themeButton } from "../common/theme";

document.title = `${document.querySelector("h1")?.textContent ?? "study"} - stickslip`;
document.getElementById("bar")?.append(themeButton());
