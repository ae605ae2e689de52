function ss_build(prefix)
% ss_build()         compiles the MEX function with the library that pkg-config knows, into ../inst
% ss_build(prefix)   with the library installed below prefix, /usr/local for example
%
% For MATLAB, and for Octave without its package manager. Run it in the folder it is in.
%
% Example:
%   cd bindings/octave/src, ss_build('/usr/local'), addpath ../inst
  if nargin < 1
    prefix = '';
  end
  if isempty(prefix)
    [failed, cflags] = system('pkg-config --cflags-only-I stickslip');
    [failed_too, libdir] = system('pkg-config --variable=libdir stickslip');
    if failed || failed_too
      error('stickslip:usage', 'ss_build: pkg-config does not find stickslip; give the prefix it was installed to');
    end
    includes = regexp(strtrim(cflags), '\s+', 'split');
    libdir = strtrim(libdir);
  else
    includes = {['-I', fullfile(prefix, 'include')]};
    places = {fullfile(prefix, 'lib'), fullfile(prefix, 'lib64'), fullfile(prefix, 'lib', 'x86_64-linux-gnu')};
    found = cellfun(@(place) ~isempty(dir(fullfile(place, 'libstickslip.so*'))), places);
    if ~any(found)
      error('stickslip:usage', 'ss_build: no libstickslip.so below %s', prefix);
    end
    libdir = places{find(found, 1)};
  end
  includes = includes(~cellfun('isempty', includes));

  % In the repository the table of a frame's arrays is the library's own; a package has a copy of it here.
  here = fileparts(mfilename('fullpath'));
  sources = dir(fullfile(here, '*.c'));
  sources = cellfun(@(name) fullfile(here, name), {sources.name}, 'UniformOutput', false);
  includes = [includes, {['-I', here], ['-I', fullfile(here, '..', '..', '..', 'src', 'frame')]}];
  target = fullfile(here, '..', 'inst', ['stickslip_mex.', mexext()]);
  mex('-D_DEFAULT_SOURCE', includes{:}, sources{:}, ['-L', libdir], '-lstickslip', ['-Wl,-rpath,', libdir], '-output', target);
end
