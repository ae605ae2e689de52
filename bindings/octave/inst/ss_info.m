function info = ss_info(subject)
% info = ss_info(path)    what a file holds
% info = ss_info(frame)   sizes, masses, energy, momentum and hash of a frame
% ss_info(...)            prints it
%
% Of a BPMD file: file, format, simulations (paths), frames (paths), simulation (of each frame) and manifests
% (cells). Of an FCLIB file: file, format, kinds. Of a frame: h, bodies (live ones), constraints, rows, contacts,
% total_mass, kinetic_energy, momentum, sum_abs_gap, max_penetration, planar, hash; all in SI units.
%
% Example:
%   info = ss_info('stack.h5');
%   numel(info.frames)
%
% See also ss_check, ss_read
  if ischar(subject)
    info = struct('file', subject, 'format', stickslip_mex('format', subject));
    if strcmp(info.format, 'fclib')
      info.kinds = stickslip_mex('fclib_kinds', subject);
    else
      file = stickslip_mex('file_open', subject);
      closing = onCleanup(@() stickslip_mex('file_close', file));
      index = stickslip_mex('file_index', file);
      info.simulations = index.simulations;
      info.frames = index.frames;
      info.simulation = index.simulation;
      info.manifests = cell(numel(index.simulations), 1);
      for s = 1:numel(index.simulations)
        info.manifests{s} = stickslip_mex('file_manifest', file, s);
      end
    end
  else
    info = stickslip_mex('frame_summary', subject);
  end
  if nargout == 0
    disp(info);
    clear info
  end
end
