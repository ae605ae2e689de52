function [result, losses] = ss_convert(source, target, varargin)
% ss_convert(source, target)             copies a file of frames with all defects repaired
% ss_convert(source, target, options)    converts between formats
% result = ss_convert(frame, [], ...)    a frame to a cone problem, or back, without files
% [result, losses] = ss_convert(...)     and what could not be carried over
%
% source and target are paths, or a frame or cone problem as source. Options:
%   to          'bpmd', 'flat' (BPMD as Gazebo writes it), 'fclib-local', 'fclib-global', 'mtx' (Matrix Market;
%               target is then the beginning of the names); by default 'bpmd' for frames and 'fclib-local' for cones
%   frame       which frame of the source, for FCLIB and Matrix Market: number from 1, or path; 1
%   with        how gaps and joints are treated, as in ss_solve
%   eliminate   false; true solves for the joints, local form
%   h           time step of a frame that is made from an FCLIB problem, s; required for it
%
% Example:
%   ss_convert('stack.h5', 'stack.hdf5', 'to', 'fclib-local', 'frame', 5);
%   cone = ss_convert(frame, [], 'to', 'fclib-global');
%
% See also ss_read, ss_write
  options = ss_arguments('ss_convert', struct('to', '', 'frame', 1, 'with', '', 'eliminate', false, 'h', []), varargin);
  if nargin < 2
    target = [];
  end
  losses = struct('kind', {}, 'place', {}, 'message', {});
  if ischar(source)
    is_bpmd = strcmp(stickslip_mex('format', source), 'bpmd');
    if is_bpmd && any(strcmp(options.to, {'', 'bpmd', 'flat'}))
      [data, losses] = ss_read(source);
    elseif is_bpmd
      [data, losses] = ss_read(source, options.frame);
    else
      [data, losses] = ss_read(source);
    end
  else
    data = ss_subject(source);
  end
  is_cone = isfield(data, 'form');
  if isempty(options.to)
    if is_cone
      options.to = 'fclib-local';
    else
      options.to = 'bpmd';
    end
  end

  switch options.to
    case {'bpmd', 'flat'}
      if is_cone
        if isempty(options.h)
          error('stickslip:usage', 'ss_convert: FCLIB does not store the time step: option h, in seconds');
        end
        [data, lost] = stickslip_mex('frame_of_cone', data, options.h);
        losses = ss_join(losses, lost);
      end
    case {'fclib-local', 'fclib-global', 'mtx'}
      local = ~strcmp(options.to, 'fclib-global');
      if ~is_cone
        forms = {'global', 'local'};
        [data, lost] = stickslip_mex('cone_of_frame', data, ss_text(options.with), forms{local + 1}, options.eliminate);
        losses = ss_join(losses, lost);
      elseif local
        data = stickslip_mex('cone_local', data, options.eliminate);
      elseif ~strcmp(data.form, 'global')
        error('stickslip:usage', 'ss_convert: a local problem has no bodies, so that no global one can be made of it');
      end
    otherwise
      error('stickslip:usage', 'ss_convert: unknown format ''%s''; expected bpmd, flat, fclib-local, fclib-global or mtx', ...
            options.to);
  end

  if strcmp(options.to, 'mtx')
    stickslip_mex('matrix_market', target, data);
  elseif ~isempty(target) && strcmp(options.to, 'flat')
    ss_write(target, data, 'layout', 'flat');
  elseif ~isempty(target)
    ss_write(target, data);
  end
  if nargout > 0
    result = data;
  end
end
