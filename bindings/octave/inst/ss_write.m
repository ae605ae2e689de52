function ss_write(path, data, varargin)
% ss_write(path, frame)            writes a BPMD file with one frame
% ss_write(path, frames)           frames as cells, or as ss_read and load show them: p.simulation_000001.mbs_frame...
% ss_write(path, cone)             writes an FCLIB file: a struct with form, dimension, mu ..., see ss_read
% ss_write(path, data, options)
%
% Results under frame.solver_data are written with their frames: give results of ss_solve there,
%   frame.solver_data.my_solver = result;
% and stickslip judge, view and report show them. Frames are checked; a faulty one is an error and the file stays as
% it was, as it does if anything else fails.
%
% Options: layout ('canonical', or 'flat' as Gazebo writes it), append (false), check (true), manifest (a struct with
% toolkit, title, description, author, date, url, keywords, gravity; for frames without one of their own).
%
% Example:
%   frame.solver_data.mine = ss_solve(frame, @my_solver);
%   ss_write('mine.h5', frame, 'manifest', struct('title', 'my solver on one frame'));
%
% See also ss_read, ss_convert
  options = ss_arguments('ss_write', struct('layout', 'canonical', 'append', false, 'check', true, 'manifest', struct()), ...
                         varargin);
  kinds = {'fclib_local', 'fclib_global', 'fclib_global_rolling'};
  if isstruct(data) && numel(data) == 1 && any(isfield(data, kinds))
    data = ss_subject(data);
  end
  if isstruct(data) && isfield(data, 'form')
    stickslip_mex('fclib_write', path, data);
    return
  end
  if ~isfield(options.manifest, 'toolkit')
    options.manifest.toolkit = ['stickslip ', stickslip_mex('version'), ' (Octave)'];
  end

  writer = stickslip_mex('writer_open', path, options.layout, options.append);
  undo = onCleanup(@() stickslip_mex('writer_discard', writer));
  groups = simulations(data);
  for s = 1:numel(groups)
    manifest = groups{s}.manifest;
    if isempty(manifest)
      manifest = options.manifest;
    end
    stickslip_mex('writer_simulation', writer, manifest);
    for k = 1:numel(groups{s}.frames)
      frame = groups{s}.frames{k};
      stickslip_mex('writer_frame', writer, frame, options.check);
      if isfield(frame, 'solver_data') && strcmp(options.layout, 'canonical')
        names = fieldnames(frame.solver_data);
        for i = 1:numel(names)
          stickslip_mex('writer_result', writer, frame, names{i}, frame.solver_data.(names{i}));
        end
      end
    end
  end
  stickslip_mex('writer_close', writer);
end

% Cells of structs with manifest and frames, in the order of the file.
function groups = simulations(data)
  if iscell(data)
    groups = {struct('manifest', [], 'frames', {data(:)'})};
    return
  end
  if ~isstruct(data) || numel(data) ~= 1
    error('stickslip:usage', 'ss_write: expected a frame, cells of frames, or what ss_read returned');
  end
  if isfield(data, 'bodies')
    groups = {struct('manifest', [], 'frames', {{data}})};
    return
  end
  groups = {};
  names = fieldnames(data);
  if any(strncmp(names, 'mbs_frame', 9))
    groups{end + 1} = one_simulation(data);
  end
  for i = 1:numel(names)
    if strncmp(names{i}, 'simulation_', 11)
      groups{end + 1} = one_simulation(data.(names{i}));
    end
  end
  if isempty(groups)
    error('stickslip:usage', 'ss_write: no frames: expected fields bodies, mbs_frame... or simulation_...');
  end
end

function group = one_simulation(data)
  names = sort(fieldnames(data));
  frames = {};
  for i = 1:numel(names)
    if strncmp(names{i}, 'mbs_frame', 9)
      frames{end + 1} = data.(names{i});
    end
  end
  group = struct('manifest', [], 'frames', {frames});
  if isfield(data, 'manifest')
    group.manifest = data.manifest;
  end
end
