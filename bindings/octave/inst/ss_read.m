function [data, findings] = ss_read(path, which, varargin)
% data = ss_read(path)                 all frames of a BPMD file, or the problem of an FCLIB file
% frame = ss_read(path, which)         one frame: its number, counted from 1, or its path in the file
% problem = ss_read(path, kind)        FCLIB: 'local', 'global' or 'global_rolling'
% data = ss_read(path, which, options) options of the reader; which may be []
% [data, findings] = ss_read(...)      repairs, warnings and faults: a struct array with kind, place and message
%
% Frames come as structs of the form that load shows: data.simulation_000001.mbs_frame000001.bodies.masses and so
% on, arrays transposed against the file, results of solvers under solver_data. In contrast to load, known defects
% of the program that wrote the file are repaired (docs/format.md); frame.dialect = 'canonical' says so. Names of
% solvers that are not valid field names have _ in the place of other characters.
%
% A problem of an FCLIB file is a struct with form, dimension, mu and, as sparse matrices and columns,
%   local    W, q, with equations also V, R, s:   u = W r + V l + q,  0 = V' r + R l + s
%   global   M, H, f, w, with equations G, b:     M v = H r + G l + f,  u = H' v + w,  0 = G' v + b
% and, where the file has them, title, description, solution and guesses.
%
% Options: dialect ('auto', 'canonical', 'gazebo', 'ode2013', 'rpisim'), flip_world_normals, fill_gravity,
% gravity_x, gravity_y, gravity_z.
%
% Example:
%   frames = ss_read('stack.h5');
%   frame = ss_read('stack.h5', 3);                                  % the third one
%   frame = ss_read('stack.h5', '/simulation_000001/mbs_frame000003');
%   frames = ss_read('old.h5', [], 'dialect', 'ode2013');
%
% See also ss_frame, ss_write, ss_info
  if nargin < 2
    which = [];
  end
  none = struct('kind', {}, 'place', {}, 'message', {});
  if strcmp(stickslip_mex('format', path), 'fclib')
    if isempty(which)
      kinds = stickslip_mex('fclib_kinds', path);
      if numel(kinds) ~= 1
        error('stickslip:usage', '%s: holds several problems; choose one: %s', path, strtrim(sprintf('%s ', kinds{:})));
      end
      which = kinds{1};
    end
    [data, findings] = stickslip_mex('fclib_read', path, which);
    return
  end

  file = stickslip_mex('file_open', path, ss_text(ss_reader_options(varargin)));
  closing = onCleanup(@() stickslip_mex('file_close', file));
  if ~isempty(which)
    if ischar(which)
      number = stickslip_mex('file_find', file, which);
      if number == 0
        error('stickslip:input', '%s: no frame %s', path, which);
      end
    else
      number = which;
    end
    [data, findings] = stickslip_mex('file_frame', file, number);
    return
  end

  index = stickslip_mex('file_index', file);
  data = struct();
  findings = none;
  for s = 1:numel(index.simulations)
    group = strrep(index.simulations{s}, '/', '');
    manifest = stickslip_mex('file_manifest', file, s);
    if ~isempty(group)
      data.(group) = struct();
      if ~isempty(fieldnames(manifest))
        data.(group).manifest = manifest;
      end
    elseif ~isempty(fieldnames(manifest))
      data.manifest = manifest;
    end
  end
  for k = 1:numel(index.frames)
    parts = regexp(index.frames{k}, '[^/]+', 'match');
    if nargout > 1
      [frame, found] = stickslip_mex('file_frame', file, k);
      findings = ss_join(findings, found);
    else
      frame = stickslip_mex('file_frame', file, k);
    end
    if numel(parts) == 1
      data.(parts{1}) = frame;
    else
      data.(parts{1}).(parts{2}) = frame;
    end
  end
end
